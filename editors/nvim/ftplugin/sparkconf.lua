vim.bo.commentstring = '# %s'
-- Keys are completed as a whole: `.` is a part of them.
vim.opt_local.iskeyword:append('.')
