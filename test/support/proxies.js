'use strict'

// The most hostile value there is: whatever is asked of it throws.

/** @returns {object} a Proxy that can not be used */
function revoked (target = {}) {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

module.exports = { revoked }
