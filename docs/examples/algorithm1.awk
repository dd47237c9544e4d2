# Algorithm 1 of Ji, Srebro and Telgarsky. Input: CSV, label +1 or -1 first. Output: w_0, ..., w_T.
BEGIN { FS = "," }
{
    n++; d = NF - 1; norm = 0
    for (j = 1; j <= d; j++) { a[n, j] = $1 * $(j + 1); norm += a[n, j] ^ 2 }
    if (norm > largest) largest = norm
}
END {
    radius = sqrt(largest)
    for (t = 0; t <= T; t++) {
        line = sprintf("%.17g", w[1])
        for (j = 2; j <= d; j++) line = line "," sprintf("%.17g", w[j])
        print line
        for (i = 1; i <= n; i++) {
            score[i] = 0
            for (j = 1; j <= d; j++) score[i] += a[i, j] / radius * w[j]
            if (i == 1 || score[i] < least) least = score[i]
        }
        sum = 0
        for (i = 1; i <= n; i++) sum += (q[i] = exp(least - score[i]))
        for (j = 1; j <= d; j++) {
            pull = 0
            for (i = 1; i <= n; i++) pull += q[i] / sum * a[i, j] / radius
            g[j] = t / (t + 1) * (g[j] + pull)
            w[j] += g[j] + pull
        }
    }
}
