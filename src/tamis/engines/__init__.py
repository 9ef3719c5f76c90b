"""Who computes: this process, processes of this machine, or a Dask cluster; the results are the same."""
