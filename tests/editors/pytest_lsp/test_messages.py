"""Every request that the server knows, on the example with its run; tests/editors/run holds the answers against the protocol."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

from test_clients import PROFILES, answer_requests, units

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "nightly-orders"
CELL = "rows = spark.read.parquet('/data/orders').collect()\n"


@pytest_lsp.fixture(params=list(PROFILES), config=ClientServerConfig(server_command=[os.environ["SPARKLS"], "server"]))
async def client(request, lsp_client: LanguageClient, tmp_path):
    capabilities, lsp_client.sparkls_encoding = PROFILES[request.param]
    answer_requests(lsp_client)
    root = tmp_path / "orders"
    shutil.copytree(EXAMPLE, root)
    offered = capabilities()
    if request.param == "vscode":
        synchronization = lsp.NotebookDocumentSyncClientCapabilities()
        offered.notebook_document = lsp.NotebookDocumentClientCapabilities(synchronization=synchronization)
    lsp_client.sparkls_root = root
    lsp_client.sparkls_server = await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=offered,
            process_id=os.getpid(),
            root_uri=root.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(uri=root.as_uri(), name="orders")],
        )
    )
    yield
    await lsp_client.shutdown_session()


def open_document(client: LanguageClient, path: str, language: str):
    uri = (client.sparkls_root / path).as_uri()
    text = (client.sparkls_root / path).read_text()
    item = lsp.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
    return lsp.TextDocumentIdentifier(uri=uri), text


def place(client: LanguageClient, text: str, word: str) -> lsp.Position:
    before = text[: text.index(word) + 1]
    return lsp.Position(line=before.count("\n"), character=units(client, before.rpartition("\n")[2]))


async def linked(client: LanguageClient, job: lsp.TextDocumentIdentifier, whole: lsp.Range):
    """Waits until the run is read and on the lines."""
    for _ in range(200):
        if await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=job, range=whole)):
            return
        await asyncio.sleep(0.1)
    pytest.fail("no hints")


@pytest.mark.asyncio
async def test_code_and_settings(client: LanguageClient):
    job, code = open_document(client, "jobs/nightly_orders.py", "python")
    conf, settings = open_document(client, "conf/spark-defaults.conf", "sparkconf")
    whole = lsp.Range(start=lsp.Position(0, 0), end=lsp.Position(code.count("\n"), 0))
    here = {"text_document": job, "position": place(client, code, "join(merchants")}
    key = {"text_document": conf, "position": place(client, settings, "spark.sql.shuffle.partitions")}
    assert (await client.text_document_hover_async(lsp.HoverParams(**here))) is not None
    assert (await client.text_document_hover_async(lsp.HoverParams(**key))) is not None
    offered = await client.text_document_completion_async(lsp.CompletionParams(**key))
    offered = offered.items if isinstance(offered, lsp.CompletionList) else offered
    assert await client.completion_item_resolve_async(offered[0])
    assert await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=job))
    assert await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=conf))
    await linked(client, job, whole)
    assert await client.text_document_code_lens_async(lsp.CodeLensParams(text_document=job))
    assert await client.text_document_definition_async(lsp.DefinitionParams(**key)) is not None
    assert await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(**key))
    context = lsp.ReferenceContext(include_declaration=True)
    assert await client.text_document_references_async(lsp.ReferenceParams(**key, context=context))
    context = lsp.CodeActionContext(diagnostics=[])
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(text_document=job, range=whole, context=context)
    )
    assert actions
    for action in actions:
        if action.edit is None and action.data is not None:
            assert (await client.code_action_resolve_async(action)).edit is not None
    if client.sparkls_server.capabilities.diagnostic_provider:
        report = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(text_document=job))
        assert {"skewed-stage", "collect-unbounded"} <= {item.code for item in report.items}
    else:
        while "skewed-stage" not in {item.code for item in client.diagnostics.get(job.uri, ())}:
            await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


@pytest.mark.asyncio
async def test_commands(client: LanguageClient):
    open_document(client, "jobs/nightly_orders.py", "python")
    (log,) = (str(path) for path in (client.sparkls_root / "runs").iterdir())
    run = lambda command, *arguments: client.workspace_execute_command_async(  # noqa: E731
        lsp.ExecuteCommandParams(command=command, arguments=list(arguments))
    )
    assert await run("sparkls.linkRun", log)
    assert await run("sparkls.unlinkRun", log) is True
    with pytest.raises(Exception, match="nowhere"):
        await run("sparkls.linkRun", str(client.sparkls_root / "nowhere"))
    await run("sparkls.showUpgrade", str(client.sparkls_root))


@pytest.mark.asyncio
async def test_cells(client: LanguageClient):
    if not client.sparkls_server.capabilities.notebook_document_sync:
        pytest.skip("a client without notebooks")
    book, cell = "file:///book.ipynb", "vscode-notebook-cell:/book.ipynb#1"
    client.notebook_document_did_open(
        lsp.DidOpenNotebookDocumentParams(
            notebook_document=lsp.NotebookDocument(
                uri=book, notebook_type="jupyter-notebook", version=1, cells=[lsp.NotebookCell(kind=lsp.NotebookCellKind.Code, document=cell)]
            ),
            cell_text_documents=[lsp.TextDocumentItem(uri=cell, language_id="python", version=1, text=CELL)],
        )
    )
    document = lsp.TextDocumentIdentifier(uri=cell)
    report = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(text_document=document))
    assert [item.code for item in report.items] == ["collect-unbounded"]
