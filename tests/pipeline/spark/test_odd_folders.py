import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roamcast.lake.columns import spark_schema
from roamcast.lake.lake import read_parquet


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["two words", "100%25", "{a,b} [c] *", "<script>", "ü#?"])
def test_files_are_read_in_folders_with_any_name(spark, tmp_path, name):
    table = pa.table({"run": ["r"], "seed": pa.array([7], pa.int64())})
    file = tmp_path / name / "part.parquet"
    file.parent.mkdir()
    pq.write_table(table, file)
    assert read_parquet(spark, spark_schema(table.schema), [file]).toArrow().to_pylist() == table.to_pylist()
