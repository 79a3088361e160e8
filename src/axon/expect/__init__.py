"""Programs that say what is expected of them, in comments:

    # expect: dense : (f32 [b,n], f32 [n,m]) -> f32 [b,m]
    # expect: double([1.0, 2.0]) == [2.0, 4.0]
    # expect: range(3) : i64 [3]
    matmul(x, w);  # expect: error AX101 the inner sizes differ

Signatures are compared up to the names of variables. A diagnostic is expected on the line that the
comment stands on, or on the next line with code if it stands alone.
"""
