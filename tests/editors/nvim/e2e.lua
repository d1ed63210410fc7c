-- A real Neovim, the files of editors/nvim, the real binary, the example project with its run.
--   usage: nvim --clean -i NONE --headless -l e2e.lua SPARKLS RUNTIME PROJECT
-- PROJECT is a copy that may be changed. Exits with 1 at the first check that fails.
local sparkls, runtime, project = unpack(_G.arg)
local passed = 0

local function check(ok, what, got)
  io.stdout:write((ok and 'ok   ' or 'FAIL ') .. what .. '\n')
  if not ok then
    io.stdout:write('got: ' .. vim.inspect(got) .. '\n1 failed\n')
    vim.cmd('cquit 1')
  end
  passed = passed + 1
end

--- Waits until `probe` returns something true, and returns that.
local function eventually(probe, seconds)
  local found
  vim.wait((seconds or 20) * 1000, function()
    found = probe()
    return found and true or false
  end, 20)
  return found
end

--- The zero-based line on which `text` stands in a buffer.
local function line_of(buffer, text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    if line:find(text, 1, true) then return number - 1, line:find(text, 1, true) - 1 end
  end
  error('no line with ' .. text)
end

local function diagnostics(buffer, rule, line)
  return vim.tbl_filter(function(diagnostic)
    return diagnostic.code == rule and (line == nil or diagnostic.lnum == line)
  end, vim.diagnostic.get(buffer))
end

local function open(path)
  vim.cmd.edit(vim.fs.joinpath(project, path))
  local buffer = vim.api.nvim_get_current_buf()
  local client = eventually(function()
    local client = vim.lsp.get_clients({ bufnr = buffer, name = 'sparkls' })[1]
    return client and client.initialized and client
  end)
  check(client, path .. ': the server is attached', vim.lsp.get_clients())
  return buffer, client
end

local is_old = vim.fn.has('nvim-0.11') == 0

local function ask(method, buffer, client, line, column)
  local request = is_old and client.request_sync or function(...) return client:request_sync(...) end
  local answer = request(method, {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    position = { line = line, character = column },
  }, 10000, buffer)
  return answer and answer.result
end

local function hover(buffer, client, line, column)
  local result = ask('textDocument/hover', buffer, client, line, column)
  return result and result.contents.value or ''
end

vim.fn.writefile({
  '#!/bin/sh',
  'spark-submit --executor-memory 8g --conf spark.sql.shufle.partitions=64 jobs/nightly_orders.py',
}, vim.fs.joinpath(project, 'run.sh'))

vim.opt.runtimepath:append(runtime)

--- What `enable` tells the user of a Neovim that lacks what it needs.
local function told_by_an_older_one()
  local has, notify, told = vim.fn.has, vim.notify, nil
  vim.fn.has = function(feature) return vim.startswith(feature, 'nvim-') and 0 or has(feature) end
  vim.notify = function(message) told = message end
  require('sparkls').enable()
  vim.fn.has, vim.notify = has, notify
  return told
end
local told = told_by_an_older_one()
check(told == 'sparkls needs Neovim 0.10 or newer', 'an older Neovim is told so', told)

vim.cmd('filetype plugin on')
vim.cmd('runtime! ftdetect/*.lua')
if is_old then
  require('sparkls').enable({ cmd = { sparkls, 'server' } })
else
  vim.lsp.config('sparkls', { cmd = { sparkls, 'server' } })
  vim.lsp.enable('sparkls')
end

-- Settings.
local conf, client = open('conf/spark-defaults.conf')
check(vim.bo[conf].filetype == 'sparkconf', 'the filetype of spark-defaults.conf', vim.bo[conf].filetype)
check(client.root_dir and vim.endswith(client.root_dir, vim.fs.basename(project)), 'the root is the project', client.root_dir)
check(client.offset_encoding == (is_old and 'utf-16' or 'utf-8'), 'columns count what it counts', client.offset_encoding)

local typo = line_of(conf, 'spark.sql.adaptive.skewJoin.enable ')
check(eventually(function() return diagnostics(conf, 'unknown-key', typo)[1] end),
  'unknown-key on the misspelt setting', vim.diagnostic.get(conf))

local shuffle, column = line_of(conf, 'spark.sql.shuffle.partitions')
local text = hover(conf, client, shuffle, column + 3)
check(text:find('48', 1, true) and text:find('200', 1, true), 'hover: the value and the default', text)

local items = ask('textDocument/completion', conf, client, shuffle, column + #'spark.sql.shuf')
items = items and items.items or items
check(vim.tbl_filter(function(item) return item.label == 'spark.sql.shuffle.partitions' end, items or {})[1], 'keys are completed', items)

-- Code, with what the run measured.
local job
job, client = open('jobs/nightly_orders.py')
local join = line_of(job, '.join(merchants, "merchant_id")')
check(eventually(function() return diagnostics(job, 'collect-unbounded', (line_of(job, '.collect()')))[1] end),
  'collect-unbounded on the collect', vim.diagnostic.get(job))
check(diagnostics(job, 'single-partition-write', (line_of(job, 'coalesce(1)')))[1],
  'single-partition-write on the write', vim.diagnostic.get(job))
local skew = eventually(function() return diagnostics(job, 'skewed-stage', join)[1] end)
check(skew, 'skewed-stage on the line of the join', vim.diagnostic.get(job))
check(skew.message:find('%d'), 'with its numbers', skew.message)
check(eventually(function() return diagnostics(job, 'slow-host-median')[1] end), 'slow-host-median on a line', vim.diagnostic.get(job))

local _, receiver = line_of(job, 'join(merchants')
text = hover(job, client, join, receiver + 1)
check(text:find('[Ss]tage %d+') and text:find('max'), 'hover on the join: the measured stage', text)

vim.lsp.inlay_hint.enable(true, { bufnr = job })
local hints = eventually(function()
  local hints = vim.tbl_filter(function(hint)
    return hint.inlay_hint.position.line == join
  end, vim.lsp.inlay_hint.get({ bufnr = job }))
  return #hints > 0 and hints
end)
check(hints, 'an inlay hint at the end of the join', vim.lsp.inlay_hint.get({ bufnr = job }))

-- Neovim 0.12 keeps lenses up to date by itself once they are enabled.
if vim.lsp.codelens.enable then
  vim.lsp.codelens.enable(true, { bufnr = job })
else
  vim.lsp.codelens.refresh({ bufnr = job })
end
local function lenses()
  local found = vim.lsp.codelens.enable and vim.lsp.codelens.get({ bufnr = job }) or vim.lsp.codelens.get(job)
  return #found > 0 and found
end
check(eventually(lenses), 'a lens says what the run says of the whole file', lenses())

-- The user's `gra` on the join: Neovim sends all diagnostics of the line with it.
vim.api.nvim_win_set_cursor(0, { join + 1, receiver })
local offered = {}
vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    table.insert(offered, item.action.title)
    if item.action.title:lower():find('broadcast') then return choose(item, 1) end
  end
  choose(nil)
end
vim.lsp.buf.code_action()
local applied = eventually(function()
  return vim.api.nvim_buf_get_lines(job, 0, -1, false) and
    table.concat(vim.api.nvim_buf_get_lines(job, 0, -1, false), '\n'):find('broadcast%(merchants%)')
end)
check(applied, 'the broadcast template is applied', offered)
check(eventually(function() return #diagnostics(job, 'collect-unbounded') == 1 end),
  'the changed text is analysed: other findings moved with their lines', vim.diagnostic.get(job))
local moved = diagnostics(job, 'collect-unbounded')[1]
check(eventually(function()
  moved = diagnostics(job, 'collect-unbounded')[1]
  return moved and moved.lnum == (line_of(job, '.collect()'))
end), 'collect-unbounded is still on the collect', moved)

-- A fix on a setting, and the end of its finding.
vim.cmd.buffer(conf)
vim.api.nvim_win_set_cursor(0, { typo + 1, 2 })
vim.lsp.buf.code_action({ filter = function(action) return action.title:find('skewJoin.enabled', 1, true) end, apply = true })
check(eventually(function()
  return vim.api.nvim_buf_get_lines(conf, typo, typo + 1, false)[1]:find('skewJoin.enabled', 1, true)
end), 'did-you-mean is applied', vim.api.nvim_buf_get_lines(conf, typo, typo + 1, false))
check(eventually(function() return #diagnostics(conf, 'unknown-key') == 0 end), 'its finding is gone', vim.diagnostic.get(conf))

-- A script that starts a job.
local run
run, client = open('run.sh')
check(eventually(function() return diagnostics(run, 'unknown-key')[1] end),
  'unknown-key in a shell script', vim.diagnostic.get(run))
local flag
flag, column = line_of(run, '--executor-memory')
text = hover(run, client, flag, column + 3)
check(text:find('spark.executor.memory', 1, true) and text:find('8g', 1, true), 'hover on a flag of spark-submit', text)

-- The commands of the buffer.
local told = {}
vim.notify = function(text) table.insert(told, text) end
local function eventually_told(text)
  return eventually(function()
    return vim.tbl_filter(function(line) return line:find(text, 1, true) end, told)[1]
  end)
end
local function eventually_shown(text)
  local shown = eventually(function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find(text, 1, true)
  end)
  if shown and vim.bo.buftype == 'nofile' then vim.cmd.close() end
  return shown
end
vim.cmd.buffer(job)
local log = vim.fs.joinpath(project, 'runs', vim.fn.readdir(vim.fs.joinpath(project, 'runs'))[1])
vim.cmd('LspSparklsStatus')
check(eventually_shown('sparkVersion = "3.5'), ':LspSparklsStatus', told)
vim.cmd('LspSparklsReport')
check(eventually_shown('Where the time went'), ':LspSparklsReport of the linked run', told)
vim.cmd('LspSparklsUnlinkRun ' .. vim.fn.fnameescape(log))
check(eventually_told('is not linked any more'), ':LspSparklsUnlinkRun', told)
check(eventually(function() return #diagnostics(job, 'skewed-stage') == 0 end), 'what it measured is gone', vim.diagnostic.get(job))
vim.cmd('LspSparklsLinkRun ' .. vim.fn.fnameescape(log))
check(eventually_told('is linked'), ':LspSparklsLinkRun', told)
check(eventually(function() return #diagnostics(job, 'skewed-stage') > 0 end), 'and is there again', vim.diagnostic.get(job))
vim.cmd('LspSparklsUpgrade')
check(eventually(function()
  return vim.bo.buftype == 'nofile' or told[#told]:find('a newer Spark', 1, true)
end), ':LspSparklsUpgrade', told)
if vim.bo.buftype == 'nofile' then vim.cmd.close() end

-- Health, and an orderly end.
vim.cmd('checkhealth sparkls')
local report = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
check(report:find('sparkls %d+%.%d+%.%d+') and not report:find('ERROR'), ':checkhealth sparkls', report)
if is_old then client.stop() else client:stop() end
check(eventually(function() return #vim.lsp.get_clients() == 0 end), 'the server ends', vim.lsp.get_clients())
io.stdout:write(('%d passed, 0 failed\n'):format(passed))
vim.cmd('qa!')
