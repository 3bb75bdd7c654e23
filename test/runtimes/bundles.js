'use strict'

// A bundle by each bundler, with the settings that it comes with. docs/reference/browsers.md shows the commands.

const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { run } = require('./child')

/** Each is given the project and the tools, and gives the path of the bundle there. */
const bundlers = {
  async esbuild (project, tools) {
    await command(project, [tools.bin('esbuild'), 'src/index.js', '--bundle', '--outfile=esbuild/index.js'])
    return 'esbuild/index.js'
  },

  async Vite (project, tools) {
    writeFileSync(join(project, 'index.html'), '<script type="module" src="/src/index.js"></script>\n')
    await command(project, [tools.bin('vite'), 'build', '--outDir', 'vite'])
    const [, script] = readFileSync(join(project, 'vite/index.html'), 'utf8').match(/src="\/(.*?)"/)
    return `vite/${script}`
  },

  // what its command line does, which is a package of its own
  async webpack (project, tools) {
    const webpack = require(tools.folder('webpack'))
    const stats = await new Promise((resolve, reject) => {
      webpack({ mode: 'production', context: project, output: { path: join(project, 'webpack') } }, (err, stats) => err ? reject(err) : resolve(stats))
    })
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }))
    return 'webpack/main.js'
  },

  async Rollup (project, tools) {
    const plugins = ['@rollup/plugin-node-resolve', '@rollup/plugin-commonjs']
    for (const name of plugins) tools.folder(name)
    await command(project, [tools.bin('rollup'), 'src/index.js', '--file', 'rollup/index.js', '--plugin', 'node-resolve', '--plugin', 'commonjs'])
    return 'rollup/index.js'
  }
}

module.exports = { bundlers }

async function command (cwd, args) {
  const { code, stdout, stderr } = await run(args, { cwd })
  if (code !== 0) throw new Error(`${code}: ${stdout}${stderr}`)
}
