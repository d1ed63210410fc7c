--- `:checkhealth sparkls`
local health = vim.health
local M = {}

--- What a command prints, or nil.
local function output(command)
  local ok, result = pcall(function() return vim.system(command, { text = true }):wait(5000) end)
  return ok and result or nil
end

local function check_editor()
  health.start('sparkls: Neovim')
  if vim.fn.has('nvim-0.11.3') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  elseif vim.fn.has('nvim-0.10') == 1 then
    health.ok(('Neovim %s: start it with require("sparkls").enable()'):format(tostring(vim.version())))
  else
    health.error('Neovim 0.10 or newer is needed')
  end
end

local function check_binary(command)
  health.start('sparkls: binary')
  local binary = vim.fn.exepath(command[1])
  if binary == '' then
    health.error(('`%s` is not executable'):format(command[1]), { 'Install sparkls, or set cmd with vim.lsp.config' })
    return
  end
  local version = output({ binary, '--version' })
  if version and version.code == 0 then
    health.ok(('%s: %s'):format(binary, vim.trim(version.stdout)))
  else
    health.error(binary .. ' does not answer --version')
  end
end

local function check_clients(clients)
  health.start('sparkls: projects')
  if #clients == 0 then
    health.info('Not running; open a Python file or spark-defaults.conf')
  end
  for _, client in ipairs(clients) do
    local root = client.root_dir or vim.fn.getcwd()
    health.ok(('%s, columns in %s'):format(root, client.offset_encoding))
    local checked = output({ client.config.cmd[1], 'check', root, '--fail-on', 'never', '--format', 'github', '--min-severity', 'error' })
    if not checked then
      health.warn('sparkls check did not end within five seconds')
    elseif checked.code ~= 0 then
      health.warn('An input can not be read', vim.split(vim.trim(checked.stdout .. checked.stderr), '\n'))
    else
      health.ok('Settings and event logs can be read')
    end
  end
end

function M.check()
  check_editor()
  local clients = vim.lsp.get_clients({ name = 'sparkls' })
  local config = clients[1] and clients[1].config or vim.lsp.config and vim.lsp.config.sparkls
  check_binary(config and type(config.cmd) == 'table' and config.cmd or { 'sparkls' })
  check_clients(clients)
end

return M
