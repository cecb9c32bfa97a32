"""Frozen tables with a declared schema: closed studies and data sets, each as columns in no order."""
