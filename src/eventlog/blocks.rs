//! The block streams that Spark writes with lz4, snappy and lzf; none of them is the codec's own file format.
//!
//! * lz4: lz4-java's `LZ4BlockOutputStream`: `LZ4Block`, token, packed length, length, checksum (little endian), data.
//! * snappy: snappy-java's `SnappyOutputStream`: a header of 16 bytes, then length (big endian) and raw snappy.
//! * lzf: Ning's chunks: `ZV`, type, packed length (big endian), for packed ones the length, data.

use std::io::{self, ErrorKind, Read};

/// Longest block taken; the writers' own limits are below it.
const MAX_BLOCK: usize = 64 << 20;

/// Which stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Lz4,
    Snappy,
    Lzf,
}

/// The decoded bytes of a block stream.
pub(super) struct Blocks<R> {
    reader: R,
    format: Format,
    packed: Vec<u8>,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(reader: R, format: Format) -> Self {
        Self { reader, format, packed: Vec::new(), block: Vec::new(), at: 0 }
    }

    /// Decodes the next block; `false` at the end.
    fn next(&mut self) -> io::Result<bool> {
        self.block.clear();
        self.at = 0;
        match self.format {
            Format::Lz4 => self.next_lz4(),
            Format::Snappy => self.next_snappy(),
            Format::Lzf => self.next_lzf(),
        }
    }

    fn next_lz4(&mut self) -> io::Result<bool> {
        let Some(magic) = self.start::<8>()? else { return Ok(false) };
        if &magic != b"LZ4Block" {
            return Err(broken());
        }
        let [token] = self.exactly()?;
        let packed = u32::from_le_bytes(self.exactly()?);
        let length = u32::from_le_bytes(self.exactly()?);
        let _checksum: [u8; 4] = self.exactly()?;
        self.fetch(packed as usize)?;
        match token & 0xf0 {
            0x10 => self.block.extend_from_slice(&self.packed),
            _ if length == 0 => {}
            _ => unpack_lz4(&self.packed, &mut self.block)?,
        }
        Ok(true)
    }

    fn next_snappy(&mut self) -> io::Result<bool> {
        let Some(mut start) = self.start::<4>()? else { return Ok(false) };
        // The header, which comes again where a stream was appended to.
        while start == *b"\x82SNA" {
            let _rest: [u8; 12] = self.exactly()?;
            match self.start()? {
                Some(next) => start = next,
                None => return Ok(false),
            }
        }
        self.fetch(u32::from_be_bytes(start) as usize)?;
        unpack_snappy(&self.packed, &mut self.block)?;
        Ok(true)
    }

    fn next_lzf(&mut self) -> io::Result<bool> {
        let Some([b'Z', b'V', kind]) = self.start::<3>()? else { return Ok(false) };
        let packed = u16::from_be_bytes(self.exactly()?);
        if kind == 0 {
            self.fetch(packed.into())?;
            self.block.extend_from_slice(&self.packed);
        } else {
            let _length: [u8; 2] = self.exactly()?;
            self.fetch(packed.into())?;
            unpack_lzf(&self.packed, &mut self.block)?;
        }
        Ok(true)
    }

    /// The first bytes of a block, or `None` at the end of the stream.
    fn start<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        let mut have = 0;
        while have < N {
            match self.reader.read(&mut bytes[have..]) {
                Ok(0) if have == 0 => return Ok(None),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => have += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(bytes))
    }

    fn exactly<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn fetch(&mut self, length: usize) -> io::Result<()> {
        if length > MAX_BLOCK {
            return Err(broken());
        }
        self.packed.resize(length, 0);
        self.reader.read_exact(&mut self.packed)
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.block.len() - self.at);
        buffer[..length].copy_from_slice(&self.block[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn broken() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a broken block")
}

/// Takes bytes from the front of a packed block.
struct Packed<'a>(&'a [u8]);

impl<'a> Packed<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> io::Result<usize> {
        Ok(usize::from(self.take(1)?[0]))
    }

    /// A little-endian number of up to four bytes.
    fn number(&mut self, bytes: usize) -> io::Result<usize> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }
}

/// Appends `length` bytes that stand `distance` before the end; the two may overlap, which repeats them.
fn copy_back(out: &mut Vec<u8>, distance: usize, length: usize) -> io::Result<()> {
    if distance == 0 || distance > out.len() || out.len() + length > MAX_BLOCK {
        return Err(broken());
    }
    let mut left = length;
    while left > 0 {
        let from = out.len() - distance;
        let step = left.min(distance);
        out.extend_from_within(from..from + step);
        left -= step;
    }
    Ok(())
}

fn unpack_lz4(packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let mut packed = Packed(packed);
    let long = |packed: &mut Packed<'_>, nibble: usize| -> io::Result<usize> {
        let mut length = nibble;
        let mut more = nibble == 15;
        while more {
            let byte = packed.byte()?;
            length += byte;
            more = byte == 255;
        }
        Ok(length)
    };
    loop {
        let token = packed.byte()?;
        let literals = long(&mut packed, token >> 4)?;
        out.extend_from_slice(packed.take(literals)?);
        if packed.0.is_empty() {
            return Ok(());
        }
        let distance = packed.number(2)?;
        let length = long(&mut packed, token & 15)? + 4;
        copy_back(out, distance, length)?;
    }
}

fn unpack_snappy(packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let mut packed = Packed(packed);
    // The unpacked length, seven bits a byte: the elements tell it too.
    while packed.byte()? >= 128 {}
    while !packed.0.is_empty() {
        let tag = packed.byte()?;
        let high = tag >> 2;
        match tag & 3 {
            0 => {
                let length = if high < 60 { high } else { packed.number(high - 59)? };
                out.extend_from_slice(packed.take(length + 1)?);
            }
            1 => {
                let distance = (tag >> 5) << 8 | packed.byte()?;
                copy_back(out, distance, (high & 7) + 4)?;
            }
            2 => {
                let distance = packed.number(2)?;
                copy_back(out, distance, high + 1)?;
            }
            _ => {
                let distance = packed.number(4)?;
                copy_back(out, distance, high + 1)?;
            }
        }
    }
    Ok(())
}

fn unpack_lzf(packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let mut packed = Packed(packed);
    while !packed.0.is_empty() {
        let control = packed.byte()?;
        if control < 32 {
            out.extend_from_slice(packed.take(control + 1)?);
            continue;
        }
        let length = match control >> 5 {
            7 => 7 + packed.byte()?,
            short => short,
        };
        let distance = ((control & 31) << 8 | packed.byte()?) + 1;
        copy_back(out, distance, length + 2)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(unpack: fn(&[u8], &mut Vec<u8>) -> io::Result<()>, packed: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        unpack(packed, &mut out).ok().and_then(|()| String::from_utf8(out).ok())
    }

    #[test]
    fn literals_and_repeats() {
        // "abc", then 3 back: lz4 counts from 4, snappy's short copy from 4, lzf from 2; the last lz4 part is literal.
        assert_eq!(unpack(unpack_lz4, b"\x32abc\x03\x00\x10d").as_deref(), Some("abcabcabcd"));
        assert_eq!(unpack(unpack_snappy, b"\x0a\x08abc\x09\x03\x00d").as_deref(), Some("abcabcabcd"));
        assert_eq!(unpack(unpack_lzf, b"\x02abc\x80\x02\x00d").as_deref(), Some("abcabcabcd"));
    }

    #[test]
    fn long_lengths() {
        let literal = "x".repeat(300);
        let lz4 = [b"\xf0\xff\x1e".as_slice(), literal.as_bytes()].concat();
        assert_eq!(unpack(unpack_lz4, &lz4), Some(literal.clone()));
        let snappy = [b"\xac\x02\xf4\x2b\x01".as_slice(), literal.as_bytes()].concat();
        assert_eq!(unpack(unpack_snappy, &snappy), Some(literal));
        assert_eq!(unpack(unpack_lzf, b"\x00a\xe0\x14\x00").as_deref(), Some("a".repeat(1 + 29).as_str()));
    }

    #[test]
    fn broken_blocks_are_errors() {
        for unpacker in [unpack_lz4, unpack_snappy, unpack_lzf] {
            for packed in [b"\xff".as_slice(), b"\x05\x12ab", b"\x01\x20\x20\x7f"] {
                assert_eq!(unpack(unpacker, packed), None);
            }
        }
    }
}
