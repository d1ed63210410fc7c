---@brief
---
--- sparkls: what is slow or will fail in Spark settings and PySpark jobs, with what their last run measured.
---
--- Enable it with `vim.lsp.enable('sparkls')`. Settings go under `settings.sparkls`, as in sparkls.toml:
---
--- ```lua
--- vim.lsp.config('sparkls', { settings = { sparkls = { ['spark-version'] = '3.5' } } })
--- ```

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
}
