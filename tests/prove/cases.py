"""Conditions that hold for all sizes, for some, for none: `condition | assumption; …`."""

from __future__ import annotations

TRUE = """
2*((n+1)/2) >= n
3*((n+2)/3) >= n
4*((n+3)/4) >= n
8*((n+7)/8) >= n
2*((n+1)/2) - n <= 1
3*((n+2)/3) - n <= 2
5*((n+4)/5) - n <= 4
8*((n+7)/8) - n <= 7
2*(n/2) <= n
3*(n/3) <= n
7*(n/7) <= n
n mod 2 <= 1
n mod 3 <= 2
n mod 7 <= 6
n <= 2*(n/2) + 1
n <= 4*(n/4) + 3
n <= 9*(n/9) + 8
2*((n+1)/2-1) < n | n >= 1
3*((n+2)/3-1) < n | n >= 1
4*((n+3)/4-1) < n | n >= 1
(n+1)/4 = n/4 | n mod 4 = 0
(n+3)/4 = n/4 | n mod 4 = 0
(n+1)/6 = n/6 | n mod 6 = 0
(n+3)/6 = n/6 | n mod 6 = 0
(n+1)/2 = n/2 + 1 | n mod 2 >= 1
(n+2)/3 = n/3 + 1 | n mod 3 >= 1
(n+4)/5 = n/5 + 1 | n mod 5 >= 1
(n+1)/2 = n/2 + 1 | n mod 2 = 1
(n+1)/3 = n/3 + 1 | n mod 3 = 2
(n+1)/4 = n/4 + 1 | n mod 4 = 3
n/2 + (n+1)/2 = n
n/3 + (n+1)/3 + (n+2)/3 = n
n/4 + (n+1)/4 + (n+2)/4 + (n+3)/4 = n
n/5 + (n+1)/5 + (n+2)/5 + (n+3)/5 + (n+4)/5 = n
n/2 + n/2 = n | n mod 2 = 0
n/2 + n/2 = n | n mod 4 = 0
n/2 + n/2 = n | n mod 6 = 0
n mod 2 = 0 | n mod 12 = 0
n mod 3 = 0 | n mod 12 = 0
n mod 4 = 0 | n mod 12 = 0
n mod 6 = 0 | n mod 12 = 0
n mod 6 = 0 | n mod 2 = 0; n mod 3 = 0
n mod 12 = 0 | n mod 4 = 0; n mod 3 = 0
n mod 10 = 5 | n mod 2 = 1; n mod 5 = 0
(n mod 6) mod 2 = n mod 2
(n mod 6) mod 3 = n mod 3
(n mod 12) mod 2 = n mod 2
(n mod 12) mod 3 = n mod 3
(n+m) mod 2 = 0 | n mod 2 = 1; m mod 2 = 1
(n+m) mod 2 = 1 | n mod 2 = 1; m mod 2 = 0
(n+m) mod 2 = (n mod 2 + m mod 2) mod 2
(n+m) mod 3 = (n mod 3 + m mod 3) mod 3
(n+m) mod 4 = (n mod 4 + m mod 4) mod 4
(3*n) mod 2 = n mod 2
(n+m)/2 >= n/2 + m/2
(n+m)/3 >= n/3 + m/3
(n+m)/4 >= n/4 + m/4
(n+m)/2 <= n/2 + m/2 + 1
(n+m)/3 <= n/3 + m/3 + 1
(n+m)/4 <= n/4 + m/4 + 1
(n+m)/2 = n/2 + m/2 | n mod 2 = 0
(n+m)/3 = n/3 + m/3 | n mod 3 = 0
n/2 >= n/4
n/2 >= n/5
n/3 >= n/4
n/3 >= n/5
n/2 < n | n >= 1
n/3 < n | n >= 1
(n+1)/2 <= n
(n+2)/3 <= n
(n+3)/4 <= n
n/2 >= m | n >= 2*m
n/3 >= m | n >= 3*m
n/5 >= m | n >= 5*m
n >= 2*m | n/2 >= m
n >= 3*m | n/3 >= m
n >= 5*m | n/5 >= m
n/2 = m | n >= 2*m; n < 2*m + 2
n/3 = m | n >= 3*m; n < 3*m + 3
n/6 = m | n >= 6*m; n < 6*m + 6
n < 2*m | n/2 < m
n < 4*m | n/4 < m
n/2 >= m/2 | n >= m
n/3 >= m/3 | n >= m
(n/2+1)/2 = (n+2)/4
((n+1)/2+1)/2 = (n+3)/4
(((n+1)/2+1)/2+1)/2 = (n+7)/8
((n+2)/3+1)/2 = (n+5)/6
((n-1)/2+1)/2 <= n/2 | n >= 2
(n-3)/2+1 >= 1 | n >= 3
(n-3)/3+1 >= 1 | n >= 3
(n-5)/2+1 >= 1 | n >= 5
(n-5)/3+1 >= 1 | n >= 5
((n-3)/2)*2 + 3 <= n | n >= 3
((n-3)/4)*4 + 3 <= n | n >= 3
((n-5)/2)*2 + 5 <= n | n >= 5
((n-5)/4)*4 + 5 <= n | n >= 5
((n-3)/2)*2 + 3 + 2 > n | n >= 3
((n-3)/4)*4 + 3 + 4 > n | n >= 3
((n-5)/2)*2 + 5 + 2 > n | n >= 5
((n-5)/4)*4 + 5 + 4 > n | n >= 5
(n-2+1)/2 >= (n-2)/2 | n >= 2
(n-2+2)/3 >= (n-2)/3 | n >= 2
(n-3+1)/2 >= (n-3)/2 | n >= 3
(n-3+2)/3 >= (n-3)/3 | n >= 3
(n-2+1)/2 <= (n-2)/2 + 1 | n >= 2
(n-2+2)/3 <= (n-2)/3 + 1 | n >= 2
(n-3+1)/2 <= (n-3)/2 + 1 | n >= 3
(n-3+2)/3 <= (n-3)/3 + 1 | n >= 3
(n-2+1)/2 = (n-2)/2 | (n-2) mod 2 = 0; n >= 2
(n-2+2)/3 = (n-2)/3 | (n-2) mod 3 = 0; n >= 2
(n-3+1)/2 = (n-3)/2 | (n-3) mod 2 = 0; n >= 3
(n-3+2)/3 = (n-3)/3 | (n-3) mod 3 = 0; n >= 3
(n + max(2*((n+1)/2)-2+2-n,0) - 2)/2 + 1 = (n+1)/2 | n >= 1
(n + max(2*((n+1)/2)-2+3-n,0) - 3)/2 + 1 = (n+1)/2 | n >= 1
(n + max(2*((n+1)/2)-2+5-n,0) - 5)/2 + 1 = (n+1)/2 | n >= 1
(n + max(3*((n+2)/3)-3+3-n,0) - 3)/3 + 1 = (n+2)/3 | n >= 1
(n + max(3*((n+2)/3)-3+5-n,0) - 5)/3 + 1 = (n+2)/3 | n >= 1
(n+2-3)/2+1 = (n+1)/2 | n >= 1
(n+2-3)/2+1 = n/2 | n >= 2; n mod 2 = 0
(n+2*2-5)/2+1 = n/2 | n >= 2; n mod 2 = 0
2*((n+2-3)/2+1) = n | n mod 2 = 0; n >= 2
2*((n+1)/2) = n | n mod 2 = 0
2*((n-1)/2) + 2 = n | n mod 2 = 0; n >= 2
2*(n/2)+1 = n | n mod 2 = 1
2*(n/2) = n | n mod 8 = 0
2*(n/2) = n | n mod 16 = 0
4*(n/4) = n | n mod 8 = 0
4*(n/4) = n | n mod 16 = 0
4*((n/2+1)/2) >= n-1
8*((n+7)/8) - n < 8
16*(n/16) = n | n mod 32 = 0
n/8 = m | n = 8*m + 3
min(n,m) + max(n,m) = n + m
min(n,m) <= max(n,m)
min(n,max(n,m)) = n
max(n,min(n,m)) = n
max(min(n,m),k) >= min(n,k)
min(max(n,m),max(n,k)) = max(n,min(m,k))
max(min(n,m),min(n,k)) = min(n,max(m,k))
max(n-m,0) + m = max(n,m)
max(n-m,0) + min(n,m) = n
max(n,m) - min(n,m) = max(n-m,m-n)
min(n,m)/2 = min(n/2,m/2)
min(n,m)/3 = min(n/3,m/3)
max(n,m)/2 = max(n/2,m/2)
max(n,m)/3 = max(n/3,m/3)
max(2*n,2*m) = 2*max(n,m)
min(n+k,m+k) = min(n,m) + k
min(n,m) >= k | n >= k; m >= k
max(n,m) <= k | n <= k; m <= k
n <= k | max(n,m) <= k
min(n,m) = n | n <= m
max(n,m) = m | n <= m
max(n,1) >= 1
max(n,4) >= 4
min(n,1) <= 1
min(n,4) <= 4
max(n-1,0) <= n
max(n-4,0) <= n
max(n-1,0) = n-1 | n >= 1
max(n-4,0) = n-4 | n >= 4
min(n/2,m) <= n
max(n,m) < n + m | n >= 1; m >= 1
min(n,m,k) <= min(n,m)
max(n,m,k) = max(n,max(k,m))
n >= k | n >= m; m >= k
n = m | n >= m; m >= n
n = m | 2*n = 2*m
n = 0 | 2*n = n
n >= 2 | n mod 3 = 2
n >= 2 | n/2 >= 1
n >= 5 | n/5 >= 1
n = 0 | n/2 = n
n <= 1 | 3*(n/2) = n; n < 3
n/2 = n/3 | n <= 1
n*m >= n | m >= 1
n*m >= 0
n*n >= n
n*n + m*m >= 2*n*m
n*m >= k*m | n >= k
n*m = 0 | n = 0
m = 0 | n*m = 0; n >= 1
m*(n/m) <= n | m >= 1
n mod m < m | m >= 1
n/m <= n | m >= 1
n/m = 0 | n < m
n/m >= 1 | n >= m; m >= 1
m*(n/m) + m > n | m >= 1
(n+m-1)/m*m >= n | m >= 1
n*m <= k*m | n <= k
n*m > 0 | n >= 1; m >= 1
n*m = k*m | n = k
(n+1)*(m+1) > n*m
n*m >= n + m - 1 | n >= 1; m >= 1
n*m*k >= n*m | k >= 1
min(n,m)*max(n,m) = n*m
n*m >= min(n,m) | n >= 1; m >= 1
(n*m)/2 = n*(m/2) | m mod 2 = 0
(n*m) mod 2 = 0 | n mod 2 = 0
(n*(n+1)) mod 2 = 0
n/(m+1) <= n
n mod (m+1) <= m
(n+m)/m = n/m + 1 | m >= 1
n/m >= n/k | m >= 1; m <= k
n = m*k | n/m = k; n mod m = 0; m >= 1
n/m < n | m >= 2; n >= 1
(n+m)/2 >= min(n,m)
(n+m)/2 <= max(n,m)
n/m + k/m <= (n+k)/m | m >= 1
(n+k)/m <= n/m + k/m + 1 | m >= 1
(n mod m) mod m = n mod m | m >= 1
m*(n/m) = n | n = m*k; m >= 1
max(n*k,m*k) = k*max(n,m)
min(n*k,m*k) = k*min(n,m)
n*m >= n + m | n >= 2; m >= 2
(n*m)/k >= n*(m/k) | k >= 1
(n-1)/m + 1 = (n+m-1)/m | n >= 1; m >= 1
n mod k = 0 | n = m*k; k >= 1
(n+m) mod k = 0 | n mod k = 0; m mod k = 0; k >= 1
(n*m) mod k = 0 | n mod k = 0; k >= 1
n/m >= k | n >= m*k; m >= 1
n >= m*k | n/m >= k; m >= 1
n = m | n*n = m*m
n > m | n*n > m*m
(n+1)/(m+1) <= n/m + 1 | m >= 1
(n+1)/2 + (m+1)/2 >= (n+m)/2
(n+1)/3 + (m+1)/3 >= (n+m)/3
max(n/2,m/2) >= (n+m)/4
(n+m+k)/3 >= min(n,m,k)
(n+m+k)/3 <= max(n,m,k)
min(n,m,k) + max(n,m,k) <= n + m + k
n/2 + n/3 + n/6 <= n
n/2 + n/3 + n/6 = n | n mod 6 = 0
n/2 + n/4 + n/8 < n | n >= 1
(n/3)*2 + (n mod 3) <= n
(2*n+1)/2 = n
(2*n+1)/4 = n/2
(4*n+3)/8 = n/2
(n/2) mod 2 = 0 | n mod 4 <= 1
n mod 4 >= 2 | (n/2) mod 2 = 1
n mod 4 = 2*((n/2) mod 2) + n mod 2
(n+4-k)/2 <= (n+4)/2 | k <= n
(n+2*k-2*k-1)/2+1 = (n+1)/2
(n-2*(k-1)-1)/1+1 >= 1 | n >= 2*k - 1; k >= 1
(n+k)/2 + (n+k+1)/2 = n + k
max(n-k,0)/2 <= n/2
(max(n,1)-1)/2 + 1 >= 1
(max(n,1)-1)/2 + 1 <= max(n,1)
max(n/4*4,n/3*3) <= n
min((n+3)/4*4,(n+2)/3*3) >= n
n mod 2 = m mod 2 | (n+m) mod 2 = 0
(n+3*m) mod 2 = (n+m) mod 2
n/2 <= k | n <= m; m/2 <= k
"""

FALSE = """
2*(n/2) = n
3*(n/3) = n
4*(n/4) = n
8*(n/8) = n
2*((n+1)/2) = n
3*((n+2)/3) = n
5*((n+4)/5) = n
(n+1)/2 = n/2
(n+1)/2 = n/2 + 1
(n+1)/3 = n/3 + 1
n/2 + n/2 = n
n/2 + n/3 = n/6 + n
n/3 + (n+1)/3 = n/2
n mod 4 = 0 | n mod 2 = 0
n mod 6 = 0 | n mod 2 = 0
n mod 12 = 0 | n mod 3 = 0
n mod 9 = 0 | n mod 3 = 0
n mod 6 = 0 | n mod 3 = 0
(n mod 4) mod 3 = n mod 3
(n mod 3) mod 2 = n mod 2
(n+m) mod 2 = 0 | n mod 2 = 1
(n+m) mod 3 = n mod 3 + m mod 3
(n+m)/2 = n/2 + m/2
(n+m)/3 = n/3 + m/3
(n+m)/4 = n/4 + m/4
(n+m)/2 = n/2 + m/2 | m mod 3 = 0
n/2 > n/4
n/3 > n/4
n/2 < n
n/2 >= m | n + 1 >= 2*m
n/3 >= m | n + 1 >= 3*m
n > 2*m | n/2 >= m
n > 3*m | n/3 >= m
n/2 = m | n >= 2*m; n <= 2*m + 2
n/2 > m/2 | n > m
((n+1)/2+1)/2 = (n+2)/4
(n/2+1)/2 = (n+3)/4
(n-3)/2+1 >= 2 | n >= 3
(n-3)/3+1 >= 2 | n >= 3
(n-5)/2+1 >= 2 | n >= 5
(n-5)/3+1 >= 2 | n >= 5
((n-3)/2)*2 + 3 = n | n >= 3
((n-5)/2)*2 + 5 = n | n >= 5
(n-2+1)/2 = (n-2)/2 | n >= 2
(n-3+1)/2 = (n-3)/2 | n >= 3
(n + max(2*((n+1)/2)-2+3-n,0) - 3)/2 + 1 = n/2 | n >= 1
(n + max(2*((n+1)/2)-2+5-n,0) - 5)/2 + 1 = n/2 | n >= 1
(n+2-3)/2+1 = n/2 | n >= 2
2*((n+2-3)/2+1) = n | n >= 2
2*((n+1)/2) = n | n mod 3 = 0
2*((n-1)/2) + 2 = n | n >= 2
4*(n/4) = n | n mod 2 = 0
8*(n/8) = n | n mod 4 = 0
4*((n/2+1)/2) >= n
8*((n+7)/8) - n < 7
n/4 = m | n = 4*m + k; k <= 4
min(n,m) = n
max(n,m) = n
min(n,m) < max(n,m)
min(n,m) + max(n,m) = 2*n
max(n-m,0) + m = n
max(n-m,0) = n | m <= n
max(n,m) - min(n,m) = n - m | n >= 1
min(n+1,m) = min(n,m) + 1
max(n+1,m) = max(n,m) + 1
max(min(n,m),k) = min(n,max(m,k))
max(n+m,k) = max(n,k) + m
min(n,m) >= k | n >= k
max(n,m) <= k | n <= k
max(n-2,0) = n-2 | n + 1 >= 2
max(n-4,0) = n-4 | n + 1 >= 4
min(n,1) = 1
min(n,4) = 4
min(n,1) = n
min(n,4) = n
max(n,m) < n + m | n >= 1
min(n/2,m/2) = min(n,m+1)/2
max(n,m)/2 = n/2 | n + 1 >= m
n >= k | n >= m; n + m >= k
n = m | n >= m
n = m | n/2 = m/2
n = m | n mod 5 = m mod 5
n >= 3 | n mod 3 = 2
n <= 2 | n/3 < 2
n/2 = n/3 | n <= 2
n = 0 | n mod 11 = 0
n*m >= n
n*m >= n + m
n*n = n
n*n > n | n >= 1
n*m >= k*m | n + 1 >= k
n*m = 0 | n + m = 4
m = 0 | n*m = 0
n*m = n + m | n = m
m*(n/m) = n | m >= 1
n mod m < m - 1 | m >= 1
n/m < n | m >= 1
n/m >= 1 | n + 1 >= m; m >= 1
n/m = k | n >= m*k; m >= 1
(n*m)/2 = n*(m/2)
(n*m) mod 2 = 0 | n mod 2 = 1
(n*n) mod 3 = 1 | n mod 2 = 1
n*m*k >= n*m
n = k | n*m = k*m
n*m > n | m >= 2
n*m = n*k | m/2 = k/2
min(n,m)*k = min(n*k,m)
n/m = n/k | m >= 1; k >= m
(n+m)/(m+1) = 1 | n >= 1
n/(m+1) = n
n*n + m*m > 2*n*m
n mod 2 = 1 | n*n = m*m
"""

NEVER = """
n mod 2 = 1 | n mod 4 = 2
(n+1)/2 = n/2 | n mod 2 = 1
(n+3)/3 = n/3
(n+1)*(m+1) > n*m + n + m + 1
n/2 = 3 | n/4 = 2
max(n,m) <= 4 | n >= 5
n/2 > m | m > n
n/m = 2 | n < m; m >= 1
2*n = 2*m + 1
3*n + 6*m = 4
n*m = 0 | n >= 1; m >= 1
n mod 3 = 3
min(n,m) > n
max(n,m) < m
n < m | n >= k; k >= m
n + m = 3 | n mod 2 = 1; m mod 2 = 1
n*m < n | m >= 1
n*n + m*m < 2*n*m
n mod m = m | m >= 1
n/m > n | m >= 1
(n-3)/2 + 1 >= 6 | n <= 12
(n+2-3)/2 + 1 = n | n >= 2
8*((n+7)/8) < n
n = m | max(n,m) > min(n,m)
n*n = 2 | n <= 9
"""

# true, and not proved within a second
OPEN = """
(n*n) mod 4 <= 1
(n*n) mod 3 <= 1
(n*(n+1)*(n+2)) mod 6 = 0
(n*n*n + 2*n) mod 3 = 0
"""
