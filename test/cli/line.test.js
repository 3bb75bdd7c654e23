'use strict'

// What the command line may say, and what is said of what it may not.

const assert = require('node:assert/strict')
const { COMMANDS } = require('../../lib/cli/commands')
const { version } = require('../../package.json')
const { cli } = require('./cli')

describe('the command line', function () {
  it('is helped by help, --help, -h, and nothing', async () => {
    const { code, stdout, stderr } = await cli(['help'])
    assert.deepEqual([code, stderr], [0, ''])
    for (const name of COMMANDS.keys()) assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'))
    for (const args of [[], ['--help'], ['-h'], ['help', 'help']]) assert.equal((await cli(args)).stdout, stdout)
    assert.equal(JSON.parse((await cli(['help', '--json'])).stdout).help, stdout.trimEnd())
  })

  for (const [name, { options, isOfFolders, takesIds }] of COMMANDS) {
    it(`is told what ${name} takes`, async () => {
      const { code, stdout } = await cli(['help', ...name.split(' ')])
      assert.equal(code, 0)
      assert(stdout.startsWith(`fairlane ${name}: `))
      for (const option of options) assert.match(stdout, new RegExp(`^ {2}--${option} `, 'm'))
      assert.equal(stdout.includes('--connection URL --name QUEUE'), isOfFolders !== true)
      assert.equal(stdout.includes('[ID …]'), takesIds === true)
      assert.equal((await cli([...name.split(' '), '--help'])).stdout, stdout)
      assert.equal(JSON.parse((await cli([...name.split(' '), '--help', '--json'])).stdout).help, stdout.trimEnd())
    })
  }

  it('is told which commands dead is the first word of', async () => {
    const { code, stdout, stderr } = await cli(['help', 'dead'])
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(stdout.match(/^ {2}\w+ \w+/gm).map(line => line.trim()), [...COMMANDS.keys()].filter(name => name.startsWith('dead ')))
    assert.equal((await cli(['dead', '--help'])).stdout, stdout)
    assert.equal((await cli(['dead', '-h'])).stdout, stdout)
  })

  it('is told the version', async () => {
    assert.deepEqual(await cli(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
    assert.deepEqual(JSON.parse((await cli(['status', '--version', '--json'])).stdout), { version })
  })

  const wrong = [
    [['statsu'], "there is no command 'statsu'; did you mean 'status'?"],
    [['dea'], "there is no command 'dea'; did you mean 'dead'?"],
    [['xyzzy'], "there is no command 'xyzzy'"],
    [['help', 'statsu'], "there is no command 'statsu'; did you mean 'status'?"],
    [['dead'], "'dead' is followed by one of list, show, retry, delete"],
    [['help', 'dead', 'lst'], "there is no command 'dead lst'; did you mean 'dead list'?"],
    [['dead', 'lst', 'x'], "there is no command 'dead lst'; did you mean 'dead list'?"],
    [['constructor'], "there is no command 'constructor'"],
    [['__proto__'], "there is no command '__proto__'"],
    [['status', 'x', '--jsn'], "'status' has no option '--jsn'; did you mean '--json'?"],
    [['status', 'x', '--payloads'], "'status' has no option '--payloads'"],
    [['status', 'x', '--__proto__'], "'status' has no option '--__proto__'"],
    [['verify', '--connection', 'redis://x', '--name', 'mails'], "'verify' has no option '--connection'"],
    [['status', 'x', '-j'], "'status' has no option '-j'"],
    [['status', 'x', '--no-json'], "'status' has no option '--no-json'; did you mean '--json'?"],
    [['status', 'x', '--json=yes'], /--json/],
    [['types', 'x', '--limit'], /--limit/],
    [['types', 'x', '--limit', '0'], "--limit must be an integer of 1 or more, not '0'"],
    [['types', 'x', '--limit', '1e99'], "--limit must be an integer of 1 or more, not '1e99'"],
    [['types', 'x', '--limit', '99999999999999999999'], "--limit must be an integer of 1 or more, not '99999999999999999999'"],
    [['types', 'x', '--limit', ''], "--limit must be an integer of 1 or more, not ''"],
    [['board', 'x', '--port', '65536'], "--port must be an integer from 0 to 65535, not '65536'"],
    [['status'], "'status' needs a queue: a folder, or --connection URL --name QUEUE"],
    [['status', ''], 'the name of the folder is empty'],
    [['verify'], "'verify' needs a folder: fairlane verify FOLDER"],
    [['status', '--name', 'mails'], "'status' needs a queue: a folder, or --connection URL --name QUEUE"],
    [['status', '--connection', 'redis://x'], '--connection needs --name, the name of the queue'],
    [['status', '--path', 'x', '--name', 'mails'], /give either a folder, or --connection and --name$/],
    [['status', '--path', 'x', '--connection', 'redis://x', '--name', 'mails'], /give either a folder, or --connection and --name$/],
    [['status', 'x', 'y'], "'status' takes a folder and options, not 'y'"],
    [['dead', 'show', 'x'], "'dead show': give the ids of the dead letters"],
    [['dead', 'retry', 'x'], "'dead retry': say which dead letters: give ids, or --type, --error or --all"],
    [['dead', 'delete', 'x', '1', '--all'], "'dead delete': give either ids, or --type, --error or --all"]
  ]
  for (const [args, message] of wrong) {
    it(`is wrong: ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await cli(args)
      assert.deepEqual([code, stdout], [2, ''], stderr)
      if (typeof message === 'string') assert.equal(stderr, `fairlane: ${message}\n`)
      else assert.match(stderr.trimEnd(), message)
    })
  }

  it('is wrong, told as JSON, and steers no terminal by what is told', async () => {
    const { error } = JSON.parse((await cli(['status', '--json'])).stderr)
    assert.match(error.message, /^'status' needs a queue/)
    assert.equal((await cli(['\x1b[2J'])).stderr, "fairlane: there is no command '\\u001b[2J'\n")
  })

  it('takes the broker from the environment, for a queue that is named', async () => {
    const env = { FAIRLANE_CONNECTION: 'redis://127.0.0.1:1' }
    const { code, stderr } = await cli(['status', '--name', 'mails'], { env })
    assert.equal(code, 1)
    assert.match(stderr, /ECONNREFUSED/)
    assert.match((await cli(['status', '/nowhere'], { env })).stderr, /There is no folder/)
  })

  it('is wrong where no queue can have such a name, and no broker such an address', async () => {
    for (const [name, ...addresses] of [['{}', 'redis://127.0.0.1:1'], ['mails', 'x', 'y'], ['', 'redis://127.0.0.1:1'], ['mails', '']]) {
      const { code, stderr } = await cli(['status', '--name', name, ...addresses.map(address => `--connection=${address}`)])
      assert.equal(code, 2)
      assert.match(stderr, /FAIRLANE_ERR_OPTION/)
    }
  })
})
