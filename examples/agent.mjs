// JavaScript without dependencies: joins, waits for a request, answers it under a lease, leaves.
// Usage: MUFAKAT_URL=http://127.0.0.1:PORT MUFAKAT_JOIN=TOKEN node agent.mjs [seconds]

import { randomUUID } from 'node:crypto'

const server = process.env.MUFAKAT_URL
let token = process.env.MUFAKAT_JOIN

async function call(method, path, body, key) {
  const answer = await fetch(`${server}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key ? { 'idempotency-key': key } : {}),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const found = await answer.json()
  if (!answer.ok) throw new Error(`${found.code}: ${found.detail} ${found.fix ?? ''}`)
  return found
}

const seconds = Number(process.argv[2] ?? 60)
const me = await call('POST', '/agents', { engine: 'node-script', role: 'translator', project: process.cwd() })
token = me.token
console.log(`joined as ${me.identity}`)

const letters = (await call('POST', '/inbox/claim', { limit: 10, wait: seconds })).items
for (const letter of letters) {
  const lease = await call('POST', '/leases', { resources: ['task:translation'], ttl: 60, wait: 30 })
  const answer = letter.text.toUpperCase()
  await call('POST', '/messages', { to: [letter.sender], body: answer, reply_to: letter.message }, randomUUID())
  // Fences have 63 bits: they are text here, and stay text.
  await call('POST', `/leases/${lease.id}/release`, { fence: Object.values(lease.fences)[0] })
}

const gate = await call('POST', '/gate', { session: me.identity, turn: '1' })
console.log(gate.decision === 'allow' ? 'done' : gate.reason)
await call('DELETE', '/agents/me', {})
