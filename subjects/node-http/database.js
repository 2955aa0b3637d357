// Rows of PostgreSQL, by pg and its pool.

import escapeHtml from 'escape-html';
import pg from 'pg';

const READ = 'SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = $1';
const UPDATE = 'UPDATE world SET randomnumber = $1 WHERE id = $2';
const WORLDS = 10000;

// The pool connects when a connection is wanted.
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_MAX_CONN),
});

// Without handlers, a lost connection would end the program: an idle one, and one in use.
pool.on('error', console.error);
pool.on('connect', (client) => client.on('error', console.error));

export async function world() {
  return read(pool, randomNumber());
}

export async function worlds(count) {
  const rows = [];
  for (let i = 0; i < count; i++) rows.push(await read(pool, randomNumber()));
  return rows;
}

export async function updated(count) {
  const client = await pool.connect();
  try {
    const rows = [];
    await client.query('BEGIN');
    for (const id of distinctIds(count)) {
      const row = await read(client, id);
      row.randomNumber = randomNumber();
      await client.query(UPDATE, [row.randomNumber, id]);
      rows.push(row);
    }
    await client.query('COMMIT');
    return rows;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

export async function fortunes() {
  const { rows } = await pool.query('SELECT id, message FROM fortune');
  rows.push({ id: 0, message: 'Additional fortune added at request time.' });
  rows.sort((a, b) => (a.message < b.message ? -1 : 1));
  return page(rows);
}

async function read(client, id) {
  const { rows } = await client.query(READ, [id]);
  return rows[0];
}

// An id or a value: both are from 1 to 10,000.
function randomNumber() {
  return 1 + Math.floor(Math.random() * WORLDS);
}

// In order, so that transactions lock rows in the same order.
function distinctIds(count) {
  const ids = new Set();
  while (ids.size < count) ids.add(randomNumber());
  return [...ids].sort((a, b) => a - b);
}

function page(rows) {
  const cells = ({ id, message }) => `<tr><td>${id}</td><td>${escapeHtml(message)}</td></tr>`;
  return `<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>\
<tr><th>id</th><th>message</th></tr>${rows.map(cells).join('')}</table></body></html>`;
}
