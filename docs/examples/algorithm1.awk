# Algorithm 1 of Ji, Srebro and Telgarsky in awk: CSV with the label (+1 or -1) first; prints w_0, w_1, ...
BEGIN { FS = ","; OFMT = CONVFMT = "%.17g" }
{ n++; d = NF - 1; s = 0
  for (j = 1; j <= d; j++) { a[n, j] = $1 * $(j + 1); s += a[n, j] ^ 2 }
  if (s > r) r = s }
END { r = sqrt(r)
  for (t = 0; t <= T; t++) {
    line = ""; for (j = 1; j <= d; j++) line = line (j > 1 ? "," : "") sprintf("%.17g", w[j]); print line
    low = 0; for (i = 1; i <= n; i++) { p[i] = 0; for (j = 1; j <= d; j++) p[i] += a[i, j] / r * w[j]; if (i == 1 || p[i] < low) low = p[i] }
    sum = 0; for (i = 1; i <= n; i++) sum += (q[i] = exp(low - p[i]))
    for (j = 1; j <= d; j++) { pull = 0; for (i = 1; i <= n; i++) pull += q[i] / sum * a[i, j] / r
      g[j] = t / (t + 1) * (g[j] + pull); w[j] += g[j] + pull } } }
