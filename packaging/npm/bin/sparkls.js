#!/usr/bin/env node
// Starts the binary of the package for this platform with the same arguments.
'use strict'

const { spawnSync } = require('node:child_process')
const { constants } = require('node:os')

const platform = `${process.platform}-${process.arch}`
const file = process.platform === 'win32' ? 'sparkls.exe' : 'sparkls'

function binary () {
  try {
    return require.resolve(`sparkls-${platform}/${file}`)
  } catch {
    console.error(`sparkls: there is no binary for ${platform}: either it is not supported, or the optional package ` +
      `sparkls-${platform} was left out of the installation (npm install --include=optional)`)
    process.exit(2)
  }
}

const ended = spawnSync(binary(), process.argv.slice(2), { stdio: 'inherit', windowsHide: true })
if (ended.error) {
  console.error(`sparkls: ${ended.error.message}`)
  process.exit(2)
}
process.exit(ended.signal ? 128 + constants.signals[ended.signal] : ended.status)
