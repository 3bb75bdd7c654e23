'use strict'

const assert = require('node:assert/strict')
const { DEFAULT, EXAMPLES, fromAddress, toAddress } = require('../../examples/playground/setup')

describe('the address of the playground', function () {
  for (const [name, setup] of Object.entries(EXAMPLES)) {
    it(`has all of a set-up: ${name}`, () => assert.deepEqual(fromAddress(toAddress(setup)), setup))
  }

  it('keeps names as they are', function () {
    const setup = { ...DEFAULT, tenants: [{ ...DEFAULT.tenants[0], name: 'Zoë - co' }] }
    assert.deepEqual(fromAddress(toAddress(setup)), setup)
  })

  for (const [what, change] of Object.entries({
    nothing: () => '',
    'an unknown scheduler': address => address.replace('equal', 'constructor'),
    'four schedulers': address => address.replace(/schedulers=[^&]*/, 'schedulers=none,fair,capped,equal'),
    'a scheduler twice': address => address.replace(/schedulers=[^&]*/, 'schedulers=none,none'),
    'no slots': address => address.replace(/slots=\d+/, ''),
    'too many slots': address => address.replace(/slots=\d+/, 'slots=21'),
    'half a slot': address => address.replace(/slots=\d+/, 'slots=1.5'),
    'an empty number': address => address.replace(/slots=\d+/, 'slots='),
    'no tenant': address => address.replaceAll(/&tenant=[^&]*/g, ''),
    'nine tenants': address => address + '&tenant=a,,1,1,1,0,1'.repeat(6),
    'two tenants of one name': address => address + '&tenant=noisy,,1,1,1,0,1',
    'a name that is markup': address => address.replace('noisy', '<b>'),
    'a name that is too long': address => address.replace('noisy', 'n'.repeat(21)),
    'an unknown group': address => address.replace('noisy%2C', 'noisy%2CZ'),
    'too few numbers': address => address.replace('noisy%2C%2C60', 'noisy%2C'),
    'a number that is none': address => address.replace('%2C60%2C', '%2Cmany%2C')
  })) {
    it(`is refused with ${what}`, function () {
      const address = toAddress(DEFAULT)
      const changed = change(address)
      assert.notEqual(changed, address)
      assert.throws(() => fromAddress(changed), RangeError)
    })
  }
})
