# Numbers of metafor for tests/unit/candor/pooling/test_meta_analysis.py: Rscript metafor_example.R
suppressMessages(library(metafor))
y <- c(0.10, 0.30, -0.05, 0.22, 0.45)
s <- c(0.08, 0.12, 0.10, 0.20, 0.15)
fixed <- rma(y, sei = s, method = "FE")
random <- rma(y, sei = s, method = "DL", test = "adhoc")
profile <- confint(random, control = list(tol = 1e-12))$random
cat(R.version.string, "metafor", as.character(packageVersion("metafor")), "\n")
cat(sprintf("%.12g", c(fixed$b, fixed$se, fixed$ci.lb, fixed$ci.ub, fixed$pval)), "\n")
cat(sprintf("%.12g", c(random$b, random$se, random$ci.lb, random$ci.ub, random$pval)), "\n")
cat(sprintf("%.12g", c(random$QE, random$QEp, random$I2 / 100, random$tau2, profile["tau^2", "ci.lb"], profile["tau^2", "ci.ub"])), "\n")
cat(sprintf("%.12g", weights(random) / 100), "\n")
