// Verifies deliveries of Easel's webhooks. Node 18 or newer, no packages.
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * `body`: the bytes of the request, before they are parsed. `header`: the value of Easel-Signature. `secret`: as it was shown, with whsec_.
 * Answers whether one of the signatures is right and the delivery was sent within `toleranceS`.
 */
export function verify(body, header, secret, { toleranceS = 300, nowS = Date.now() / 1000 } = {}) {
  const parts = (header ?? '').split(',').map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (!/^\d+$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > toleranceS) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  // Two signatures for a day after a rotation of the secret.
  return parts.some((part) => {
    if (!part.startsWith('v1=')) return false;
    const given = Buffer.from(part.slice(3), 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// A server that takes deliveries:
//
//   createServer(async (request, response) => {
//     const chunks = [];
//     for await (const chunk of request) chunks.push(chunk);
//     const body = Buffer.concat(chunks);
//     if (!verify(body, request.headers['easel-signature'], process.env.EASEL_SECRET)) return response.writeHead(400).end();
//     // The header webhook-id is the same when a delivery comes again: take each id once.
//     response.writeHead(204).end();
//   });
