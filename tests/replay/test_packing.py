import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.replay.packing import Packer, read_column, unpack


def packed(add):
    packer = Packer()
    packer.numbers(np.arange(3))  # so that the column does not start at 0
    result = add(packer)
    header, columns = unpack(packer.finish({"column": result}))
    return header["column"], read_column(header["column"], columns)


@given(st.lists(st.integers(-(2**31), 2**31 - 1)) | st.lists(st.integers(0, 2**32 - 1)))
def test_whole_numbers_come_back_as_they_were(values):
    _, found = packed(lambda packer: packer.numbers(np.array(values, np.int64)))
    assert found.tolist() == values


@given(st.lists(st.floats(0, 5e4)))
def test_times_that_ascend_come_back_to_half_a_microsecond(values):
    result, found = packed(lambda packer: packer.times(np.array(sorted(values))))
    assert np.abs(found - np.array(sorted(values))).max(initial=0) <= 0.5e-6 + 1e-11
    assert result["type"] in ("u4", "f8")


@pytest.mark.parametrize("values", [[2.0, 1.0], [1.0, 5000.0], [float("nan")], [-1.0]])
def test_times_that_no_difference_can_hold_come_back_exactly(values):
    result, found = packed(lambda packer: packer.times(np.array(values)))
    assert result["type"] == "f8" and np.array_equal(found, values, equal_nan=True)


@given(st.lists(st.floats(allow_nan=False)))
def test_exact_numbers_come_back_bit_by_bit(values):
    _, found = packed(lambda packer: packer.reals(np.array(values, np.float64), exact=True))
    assert found.tolist() == values


def test_small_numbers_take_one_byte():
    result, _ = packed(lambda packer: packer.numbers(np.array([0, 255])))
    assert result["type"] == "u1"
