"""Products of rows and columns: row_prod and col_prod, by lanes alone, since WholeReduce knows no products.

Factors are multiplied in another order than torch does: results differ by a few units of the last place, and where a
partial product overflows in one order alone, by more (0 times infinity is NaN).
"""

from __future__ import annotations

from pypto_spec.ops.reduce import define_reduction

define_reduction("row", "prod", "product", "product")
define_reduction("col", "prod", "product", "product")
