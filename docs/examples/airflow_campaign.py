"""An Airflow DAG that estimates, runs, checks and registers a campaign every night.

Copy it to the DAG folder of Airflow. Roamcast must be installed for the Python of the tasks and on each
Spark worker.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

CAMPAIGN = "/srv/campaigns/speed.toml"
OUT = "s3://campaigns/speed"
MASTER = "spark://spark-master:7077"

with DAG(
    dag_id="roamcast_speed",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    cost = BashOperator(task_id="cost", bash_command=f"roamcast campaign cost {CAMPAIGN} --out {OUT} --json")
    # Repeating the task resumes the campaign: committed runs are not simulated again.
    run = BashOperator(
        task_id="run",
        bash_command=(
            f"spark-submit --master {MASTER} $(python -m roamcast.cli.submit) "
            f"campaign run {CAMPAIGN} --out {OUT} --json"
        ),
        execution_timeout=timedelta(hours=12),
    )
    # Exit code 1 if a data-quality check failed.
    check = BashOperator(
        task_id="check", bash_command=f"roamcast lake check {OUT} --master {MASTER}", retries=0
    )
    register = BashOperator(
        task_id="register",
        bash_command=f"roamcast lake register {OUT} --database speed --master {MASTER}",
    )
    prune = BashOperator(
        task_id="prune", bash_command=f"roamcast lake prune {OUT} --older-than 90d --remove --master {MASTER}"
    )
    cost >> run >> check >> register >> prune
