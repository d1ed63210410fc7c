--- `require('sparkls').enable()`: the same in every Neovim from 0.10 on.
local M = {}

--- What lsp/sparkls.lua says, with what `config` says over it.
local function merged(config)
  local own = vim.api.nvim_get_runtime_file('lsp/sparkls.lua', false)[1]
  return vim.tbl_deep_extend('force', dofile(own), config or {})
end

--- The folder of a buffer's project. Neovim 0.10 knows nothing of groups of markers.
local function root_of(buffer, markers)
  for _, names in ipairs(markers) do
    local root = vim.fs.root(buffer, names)
    if root then return root end
  end
end

--- Starts the server for the buffers of its file types. `config` is as for `vim.lsp.config('sparkls', config)`.
function M.enable(config)
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.notify('sparkls needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  end
  if vim.fn.has('nvim-0.11.3') == 1 then
    vim.lsp.config('sparkls', config or {})
    return vim.lsp.enable('sparkls')
  end
  local wanted = merged(config)
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('sparkls', {}),
    pattern = wanted.filetypes,
    callback = function(event)
      if vim.bo[event.buf].buftype ~= '' then return end
      local root = root_of(event.buf, wanted.root_markers)
      vim.lsp.start(vim.tbl_extend('force', wanted, { name = 'sparkls', root_dir = root }), { bufnr = event.buf })
    end,
  })
end

return M
