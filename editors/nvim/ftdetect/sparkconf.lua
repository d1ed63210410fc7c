-- spark-defaults.conf and the other properties files of Spark.
vim.filetype.add({
  filename = {
    ['spark-defaults.conf'] = 'sparkconf',
    ['spark-defaults.conf.template'] = 'sparkconf',
  },
  pattern = {
    ['.*/[^/]*spark[^/]*%.conf'] = 'sparkconf',
  },
})
