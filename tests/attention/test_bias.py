"""Biases by position, against loops in plain Python and against `transformers`."""

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from clearhead.attention.bias import Slopes, Table, bias_grid


def test_slopes_cost_each_step_of_distance_once():
    slopes = [0.5, 0.25, 0.125]
    rows, columns = range(4, 7), range(7)
    found = bias_grid(
        Slopes(torch.tensor(slopes)),
        heads=3,
        rows_T=torch.tensor(rows),
        columns_S=torch.tensor(columns),
    )
    assert found.tolist() == [
        [[[-slope * abs(row - column) for column in columns] for row in rows] for slope in slopes]
    ]


@pytest.mark.parametrize("both_sides", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 20), (16, 17), (6, 100)])
def test_buckets_are_those_of_t5(both_sides, buckets, furthest):
    ahead = torch.arange(-700, 701)
    table = Table(torch.zeros(buckets, 1), furthest=furthest, both_sides=both_sides)
    theirs = T5Attention._relative_position_bucket(
        ahead, bidirectional=both_sides, num_buckets=buckets, max_distance=furthest
    )
    assert torch.equal(table.bucket(ahead), theirs)


def test_each_head_reads_its_own_column_of_the_table():
    table = torch.arange(16.0).reshape(8, 2)
    bias = Table(table, furthest=6, both_sides=True)
    rows, columns = torch.arange(3, 5), torch.arange(5)
    found = bias_grid(bias, heads=2, rows_T=rows, columns_S=columns)
    assert found.shape == (1, 2, 2, 5)
    for head in range(2):
        for row in range(2):
            for column in range(5):
                bucket = int(bias.bucket(columns[column] - rows[row]))
                assert found[0, head, row, column] == table[bucket, head]


@pytest.mark.parametrize("shape", [(), (7,), (3, 1), (2, 3, 7), (5, 1, 1, 1)])
def test_a_bias_tensor_counts_its_axes_from_the_last(shape):
    given = torch.randn(shape)
    rows, columns = torch.arange(3), torch.arange(7)
    found = bias_grid(given, heads=2, rows_T=rows, columns_S=columns)
    assert found.shape == (1,) * (4 - len(shape)) + shape
    assert torch.equal(found.flatten(), given.flatten())
