// Draws images/icon.png: the task times of a stage, one of them much longer than the rest.

import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

const SIZE = 128;
/** Each pixel is the mean of this many samples along each side. */
const SAMPLES = 4;

const GROUND = [27, 42, 65];
const BAR = [122, 162, 214];
const LONG = [251, 138, 76];

const bars = [
  { left: 20, height: 26, colour: BAR },
  { left: 38, height: 34, colour: BAR },
  { left: 56, height: 88, colour: LONG },
  { left: 74, height: 30, colour: BAR },
  { left: 92, height: 22, colour: BAR },
];
const WIDTH = 14;
const FLOOR = 108;

/** Whether a point lies in a rectangle with round corners. */
function inside(x, y, left, top, right, bottom, radius) {
  const dx = Math.max(left + radius - x, x - (right - radius), 0);
  const dy = Math.max(top + radius - y, y - (bottom - radius), 0);
  return dx * dx + dy * dy <= radius * radius;
}

/** Colour and opacity of a point. */
function point(x, y) {
  const bar = bars.find(({ left, height }) => inside(x, y, left, FLOOR - height, left + WIDTH, FLOOR, 3));
  const opaque = inside(x, y, 0, 0, SIZE, SIZE, 24);
  return [...(bar?.colour ?? GROUND), opaque ? 255 : 0];
}

function pixel(x, y) {
  const sum = [0, 0, 0, 0];
  for (let i = 0; i < SAMPLES * SAMPLES; i++) {
    const sample = point(x + ((i % SAMPLES) + 0.5) / SAMPLES, y + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES);
    sample.forEach((value, channel) => (sum[channel] += value));
  }
  return sum.map((value) => Math.round(value / SAMPLES ** 2));
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const rows = Array.from({ length: SIZE }, (_, y) => [0, ...Array.from({ length: SIZE }, (_, x) => pixel(x, y)).flat()]);
const header = Buffer.from([0, 0, 0, SIZE, 0, 0, 0, SIZE, 8, 6, 0, 0, 0]);
const png = [
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  chunk('IHDR', header),
  chunk('IDAT', deflateSync(Buffer.from(rows.flat()), { level: 9 })),
  chunk('IEND', Buffer.alloc(0)),
];
writeFileSync(new URL('../images/icon.png', import.meta.url), Buffer.concat(png));
