// a tar archive of files, made of slices that the browser reads from the disk when they are sent
const BLOCK = 512;
const encoder = new TextEncoder();

export function tarOf(files) {
  const parts = [];
  for (const { path, file } of files) {
    const name = encoder.encode(path);
    if (name.length > 99 || name.some((byte) => byte > 127)) {
      const record = pax(path);
      parts.push(header("pax", record.length, "x"), record, padding(record.length));
    }
    parts.push(header(path, file.size, "0"), file, padding(file.size));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return new Blob(parts);
}

function pax(path) {
  const length = encoder.encode(path).length + " path=\n".length;
  let total = length + String(length).length;
  total = length + String(total).length;
  return encoder.encode(`${total} path=${path}\n`);
}

const padding = (size) => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

function header(path, size, kind) {
  const block = new Uint8Array(BLOCK);
  const put = (text, at) => block.set(encoder.encode(text), at);
  const octal = (value, width) => value.toString(8).padStart(width - 1, "0") + "\0";
  put(path.replace(/[^\x20-\x7e]/g, "_").slice(-99), 0);
  put(octal(0o644, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(0, 12), 136);
  put("        ", 148);
  put(kind, 156);
  put("ustar\0" + "00", 257);
  put(octal(block.reduce((sum, byte) => sum + byte, 0), 7) + " ", 148);
  return block;
}
