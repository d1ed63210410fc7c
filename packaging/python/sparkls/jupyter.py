"""What jupyter-lsp has to know to start the server for notebooks and Python files in JupyterLab."""

from ._binary import find_binary


def specification(manager):
    """The servers of this package by name; none if the binary is missing."""
    try:
        binary = find_binary()
    except FileNotFoundError as missing:
        manager.log.warning("sparkls: %s", missing)
        return {}
    return {
        "sparkls": {
            "version": 2,
            "argv": [binary, "server"],
            "languages": ["python"],
            "mime_types": ["text/x-python", "text/x-ipython", "text/python"],
            "display_name": "sparkls (Apache Spark)",
            "requires_documents_on_disk": False,
        }
    }
