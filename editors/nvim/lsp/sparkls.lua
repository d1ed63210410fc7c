---@brief
---
--- sparkls: what is slow or will fail in Spark settings and PySpark jobs, with what their last run measured.
---
--- Enable it with `vim.lsp.enable('sparkls')`. Settings go under `settings.sparkls`, as in sparkls.toml:
---
--- ```lua
--- vim.lsp.config('sparkls', { settings = { sparkls = { ['spark-version'] = '3.5' } } })
--- ```
---
--- In a buffer that the server is attached to:
---
--- - `:LspSparklsLinkRun {log}` shows what a run measured, `:LspSparklsUnlinkRun {log}` takes it away again
--- - `:LspSparklsReport {log}` opens the report of a run, that of the newest linked run without an argument
--- - `:LspSparklsUpgrade` tells what a newer Spark changes for what the project sets
--- - `:LspSparklsStatus` shows what decides: the Spark version, the linked runs, the documents

--- Opens a text in a window of its own; closing the window forgets it.
local function show(name, filetype, text)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text:gsub('\n$', ''), '\n'))
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].modifiable = false
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buffer)
  vim.bo[buffer].filetype = filetype
  pcall(vim.api.nvim_buf_set_name, buffer, ('sparkls://%s/%d'):format(name, buffer))
end

--- Sends a request and gives its result to `done`; an error is told.
local function request(client, method, params, buffer, done)
  local function answered(problem, result)
    if problem then
      vim.notify('sparkls: ' .. problem.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, answered, buffer)
  else
    client.request(method, params, answered, buffer)
  end
end

local function execute(client, buffer, command, arguments, done)
  request(client, 'workspace/executeCommand', { command = command, arguments = arguments }, buffer, done)
end

local function show_upgrade(client, buffer, arguments)
  execute(client, buffer, 'sparkls.showUpgrade', arguments, function(text)
    if type(text) == 'string' then
      show('upgrade', 'text', text)
    else
      vim.notify('sparkls: a newer Spark changes nothing for what is set here')
    end
  end)
end

--- The report is the command line's: it reads the log itself, and the code of the project.
local function show_report(client, log)
  local binary = type(client.config.cmd) == 'table' and client.config.cmd[1] or 'sparkls'
  local command = { binary, 'report', log, '--code', client.root_dir or vim.fn.getcwd() }
  vim.system(command, { text = true }, vim.schedule_wrap(function(answer)
    if answer.code == 0 or answer.stdout ~= '' then
      show('report', 'text', answer.stdout)
    else
      vim.notify(vim.trim(answer.stderr), vim.log.levels.ERROR)
    end
  end))
end

local function newest_run(status)
  for _, project in ipairs(status.projects) do
    if project.runs[1] then return project.runs[1].source end
  end
end

local function make_commands(client, buffer)
  local function command(name, options, run)
    vim.api.nvim_buf_create_user_command(buffer, 'LspSparkls' .. name, run, options)
  end
  command('LinkRun', { nargs = 1, complete = 'file', desc = 'Show what a run measured' }, function(call)
    local log = vim.fn.fnamemodify(vim.fn.expand(call.args), ':p')
    execute(client, buffer, 'sparkls.linkRun', { log }, function(run)
      vim.notify(('sparkls: %s is linked'):format(run.label))
    end)
  end)
  command('UnlinkRun', { nargs = 1, complete = 'file', desc = 'Forget a run' }, function(call)
    local log = vim.fn.fnamemodify(vim.fn.expand(call.args), ':p')
    execute(client, buffer, 'sparkls.unlinkRun', { log }, function(was_linked)
      vim.notify(was_linked and 'sparkls: the run is not linked any more' or 'sparkls: that run is not linked')
    end)
  end)
  command('Report', { nargs = '?', complete = 'file', desc = 'Where the time of a run went' }, function(call)
    if call.args ~= '' then return show_report(client, vim.fn.fnamemodify(vim.fn.expand(call.args), ':p')) end
    request(client, 'sparkls/status', nil, buffer, function(status)
      local log = newest_run(status)
      if log then return show_report(client, log) end
      vim.notify('sparkls: no run is linked; :LspSparklsReport {log}', vim.log.levels.WARN)
    end)
  end)
  command('Upgrade', { desc = 'What a newer Spark changes here' }, function()
    show_upgrade(client, buffer, { client.root_dir })
  end)
  command('Status', { desc = 'What decides what sparkls says' }, function()
    request(client, 'sparkls/status', nil, buffer, function(status)
      show('status', 'lua', vim.inspect(status))
    end)
  end)
end

---@type vim.lsp.Config
return {
  cmd = { 'sparkls', 'server' },
  -- Settings stand in scripts, manifests and templates too; what holds nothing of Spark costs the server nothing. SQL is
  -- read where it is Spark's: beside code and settings of Spark, or by its own words.
  filetypes = {
    'python', 'sql', 'sparkconf', 'sh', 'bash', 'zsh', 'make', 'dockerfile', 'yaml', 'yaml.docker-compose', 'helm', 'json', 'jsonc',
    'terraform', 'terraform-vars', 'hcl', 'hocon', 'toml',
  },
  -- Names in one list are of equal weight: the nearest folder with any of them is the root.
  root_markers = { 'sparkls.toml', { 'pyproject.toml', 'requirements.txt' }, '.git' },
  settings = { sparkls = vim.empty_dict() },
  on_attach = make_commands,
  commands = {
    -- The lens above a pinned version.
    ['sparkls.showUpgrade'] = function(command, context)
      local client = assert(vim.lsp.get_client_by_id(context.client_id))
      show_upgrade(client, context.bufnr, command.arguments)
    end,
  },
}
