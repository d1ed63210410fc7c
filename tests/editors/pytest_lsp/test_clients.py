"""Four kinds of clients against the real binary: what they see must be the same, in their own way of asking."""

import asyncio
import os

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

JOB = """\
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
note = "\N{SLIGHTLY SMILING FACE}"; rows = spark.read.parquet("/data/orders").collect()
spark.conf.set("spark.sql.shuffle.partitions", "many")
"""
LINE = JOB.splitlines()[3]
SCRIPT = 'echo "\N{SLIGHTLY SMILING FACE}"; spark-submit --conf spark.sql.shuffle.part=7 job.py\n'
CONF = "spark.executor.memory  2g\nspark.executor.memory  4g\nspark.sql.sh"


def vscode() -> lsp.ClientCapabilities:
    """Counts in UTF-16 and asks for diagnostics."""
    capabilities = client_capabilities("visual_studio_code")
    capabilities.text_document.diagnostic = lsp.DiagnosticClientCapabilities(dynamic_registration=True)
    capabilities.workspace.diagnostics = lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    capabilities.general.position_encodings = [lsp.PositionEncodingKind.Utf16]
    return capabilities


def neovim() -> lsp.ClientCapabilities:
    """Counts in bytes and would ask for diagnostics, but can't be told to ask again."""
    capabilities = client_capabilities("neovim")
    capabilities.text_document.diagnostic = lsp.DiagnosticClientCapabilities()
    capabilities.workspace.diagnostics = None
    capabilities.general.position_encodings = [lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16]
    return capabilities


def helix() -> lsp.ClientCapabilities:
    """Counts in bytes, asks for diagnostics and is told to ask again; registers nothing but watchers."""
    capabilities = neovim()
    capabilities.workspace.diagnostics = lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    capabilities.workspace.did_change_configuration = lsp.DidChangeConfigurationClientCapabilities()
    return capabilities


def minimal() -> lsp.ClientCapabilities:
    """Says nothing of itself: UTF-16, and diagnostics are pushed."""
    return lsp.ClientCapabilities()


PROFILES = {
    "vscode": (vscode, "utf-16"),
    "neovim": (neovim, "utf-8"),
    "helix": (helix, "utf-8"),
    "minimal": (minimal, "utf-16"),
}


@pytest_lsp.fixture(params=list(PROFILES), config=ClientServerConfig(server_command=[os.environ["SPARKLS"], "server"]))
async def client(request, lsp_client: LanguageClient, tmp_path):
    capabilities, encoding = PROFILES[request.param]
    lsp_client.sparkls_folder = tmp_path
    lsp_client.sparkls_encoding = encoding
    lsp_client.sparkls_pulls = request.param in ("vscode", "helix")
    asked = answer_requests(lsp_client)
    (tmp_path / "sparkls.toml").write_text('spark-version = "3.5.9"\n')
    answer = await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=capabilities(),
            process_id=os.getpid(),
            root_uri=tmp_path.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(uri=tmp_path.as_uri(), name="project")],
        )
    )
    assert (answer.capabilities.position_encoding or "utf-16") == encoding
    assert (answer.capabilities.diagnostic_provider is not None) == lsp_client.sparkls_pulls
    yield
    await lsp_client.shutdown_session()
    assert request.param != "minimal" or asked == [], "a client that offers nothing is asked nothing"


def answer_requests(client: LanguageClient) -> list[str]:
    """Answers what the server may ask of a client that offered it, and notes what was asked."""
    asked = []
    for method in (
        lsp.CLIENT_REGISTER_CAPABILITY,
        lsp.WORKSPACE_CODE_LENS_REFRESH,
        lsp.WORKSPACE_INLAY_HINT_REFRESH,
    ):
        client.feature(method)(lambda *_, method=method: asked.append(method))
    return asked


def units(client: LanguageClient, text: str) -> int:
    """The length of a text as the client counts columns."""
    return len(text.encode("utf-8")) if client.sparkls_encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


def open_document(client: LanguageClient, name: str, language: str, text: str) -> str:
    uri = (client.sparkls_folder / name).as_uri()
    document = lsp.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))
    return uri


async def diagnostics(client: LanguageClient, uri: str) -> list[lsp.Diagnostic]:
    """What the client shows, whether it asks or is told."""
    if client.sparkls_pulls:
        report = await client.text_document_diagnostic_async(
            lsp.DocumentDiagnosticParams(text_document=lsp.TextDocumentIdentifier(uri=uri))
        )
        return list(report.items)
    while uri not in client.diagnostics:
        await asyncio.wait_for(client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), 10)
    return list(client.diagnostics.pop(uri))


def by_rule(found: list[lsp.Diagnostic]) -> dict[str, lsp.Diagnostic]:
    return {item.code: item for item in found}


@pytest.mark.asyncio
async def test_diagnostics_stand_where_the_client_counts(client: LanguageClient):
    uri = open_document(client, "job.py", "python", JOB)
    found = by_rule(await diagnostics(client, uri))
    column = units(client, LINE[: LINE.index("collect")])
    span = found["collect-unbounded"].range
    assert (span.start.line, span.start.character) == (3, column)
    assert span.end.character == column + len("collect")
    assert "many" in found["invalid-value"].message
    assert found["invalid-value"].severity == lsp.DiagnosticSeverity.Error


@pytest.mark.asyncio
async def test_hover_tells_the_default_of_the_version(client: LanguageClient):
    uri = open_document(client, "job.py", "python", JOB)
    hover = await client.text_document_hover_async(
        lsp.HoverParams(
            text_document=lsp.TextDocumentIdentifier(uri=uri), position=lsp.Position(line=4, character=20)
        )
    )
    text = hover.contents.value
    assert "spark.sql.shuffle.partitions" in text and "200" in text


@pytest.mark.asyncio
async def test_keys_are_completed(client: LanguageClient):
    uri = open_document(client, "spark-defaults.conf", "sparkconf", CONF)
    answer = await client.text_document_completion_async(
        lsp.CompletionParams(
            text_document=lsp.TextDocumentIdentifier(uri=uri), position=lsp.Position(line=2, character=12)
        )
    )
    items = answer.items if isinstance(answer, lsp.CompletionList) else answer
    assert "spark.sql.shuffle.partitions" in [item.label for item in items]


@pytest.mark.asyncio
async def test_a_script_is_completed_where_the_client_counts(client: LanguageClient):
    uri = open_document(client, "run.sh", "shellscript", SCRIPT)
    start, end = (units(client, SCRIPT[: SCRIPT.index(mark)]) for mark in ("spark.sql", "=7"))
    answer = await client.text_document_completion_async(
        lsp.CompletionParams(
            text_document=lsp.TextDocumentIdentifier(uri=uri), position=lsp.Position(line=0, character=end)
        )
    )
    (item, *_) = answer.items if isinstance(answer, lsp.CompletionList) else answer
    assert item.label == "spark.sql.shuffle.partitions"
    span = item.text_edit.range
    assert (span.start.character, span.end.character) == (start, end)


@pytest.mark.asyncio
async def test_a_key_leads_to_every_document_that_sets_it(client: LanguageClient):
    job = open_document(client, "job.py", "python", JOB)
    script = SCRIPT.replace("part=", "partitions=")
    run = open_document(client, "run.sh", "shellscript", script)
    found = await client.text_document_references_async(
        lsp.ReferenceParams(
            text_document=lsp.TextDocumentIdentifier(uri=job),
            position=lsp.Position(line=4, character=20),
            context=lsp.ReferenceContext(include_declaration=True),
        )
    )
    places = {place.uri: (place.range.start.line, place.range.start.character) for place in found}
    assert places == {job: (4, 16), run: (0, units(client, script[: script.index("spark.sql")]))}


@pytest.mark.asyncio
async def test_a_code_action_removes_its_finding(client: LanguageClient):
    uri = open_document(client, "spark-defaults.conf", "sparkconf", CONF)
    finding = by_rule(await diagnostics(client, uri))["duplicate-key"]
    document = lsp.TextDocumentIdentifier(uri=uri)
    offered = await client.text_document_code_action_async(
        lsp.CodeActionParams(
            text_document=document,
            range=finding.range,
            context=lsp.CodeActionContext(diagnostics=[finding]),
        )
    )
    action = next(action for action in offered if action.title.startswith("Remove"))
    if action.edit is None:
        action = await client.code_action_resolve_async(action)
    (edit,) = edits(action.edit, uri)
    assert (edit.range.start.line, edit.range.end.line, edit.new_text) == (0, 1, "")
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            text_document=lsp.VersionedTextDocumentIdentifier(uri=uri, version=2),
            content_changes=[lsp.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)],
        )
    )
    found = by_rule(await diagnostics(client, uri))
    # What was pushed may still be about the text before; the next publication comes, or waiting for it fails.
    while "duplicate-key" in found and not client.sparkls_pulls:
        found = by_rule(await diagnostics(client, uri))
    assert "duplicate-key" not in found


def edits(edit: lsp.WorkspaceEdit, uri: str) -> list[lsp.TextEdit]:
    if edit.document_changes:
        assert [change.text_document.uri for change in edit.document_changes] == [uri]
        assert edit.document_changes[0].text_document.version == 1
        return list(edit.document_changes[0].edits)
    return list(edit.changes[uri])


@pytest.mark.asyncio
async def test_closing_clears_what_was_pushed(client: LanguageClient):
    uri = open_document(client, "job.py", "python", JOB)
    assert await diagnostics(client, uri)
    client.text_document_did_close(
        lsp.DidCloseTextDocumentParams(text_document=lsp.TextDocumentIdentifier(uri=uri))
    )
    while await diagnostics(client, uri):
        assert not client.sparkls_pulls
    assert uri not in client.diagnostics, "diagnostics are pushed or pulled, never both"
