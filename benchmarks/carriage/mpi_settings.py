"""Settings of Open MPI for more processes than processors, by any user."""

import os
import pathlib
import shutil

_SETTINGS = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def use():
    """Let this process and its children find the Open MPI of the environment."""
    prefix = pathlib.Path(shutil.which("mpirun")).parent.parent
    os.environ.update(_SETTINGS, MPI4PY_LIBMPI=str(prefix / "lib"), OPAL_PREFIX=str(prefix))
