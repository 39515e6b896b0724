//! The little of ELF and of archives that is needed: to add a section to an object, to find sections again, and to see
//! which shared libraries a program wants. Little-endian, 32 and 64 bits; anything else is left alone.

use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\x7fELF";
const SHT_PROGBITS: u64 = 1;
const SHT_SYMTAB: u64 = 2;
const SHT_STRTAB: u64 = 3;
const SHT_DYNAMIC: u64 = 6;
const SHT_NOBITS: u64 = 8;
const DT_NEEDED: u64 = 1;

/// Where the fields of headers lie in the two classes.
#[derive(Clone, Copy)]
struct Layout {
    /// Bytes of an address or offset.
    word: usize,
    e_shoff: usize,
    /// Followed by the number of headers and the index of the one with the names, two bytes each.
    e_shentsize: usize,
    header: usize,
    /// Within a section header.
    sh_flags: usize,
    sh_offset: usize,
    sh_size: usize,
    sh_link: usize,
    sh_addralign: usize,
}

const ELF64: Layout = Layout {
    word: 8,
    e_shoff: 0x28,
    e_shentsize: 0x3a,
    header: 64,
    sh_flags: 8,
    sh_offset: 24,
    sh_size: 32,
    sh_link: 40,
    sh_addralign: 48,
};

const ELF32: Layout = Layout {
    word: 4,
    e_shoff: 0x20,
    e_shentsize: 0x2e,
    header: 40,
    sh_flags: 8,
    sh_offset: 16,
    sh_size: 20,
    sh_link: 24,
    sh_addralign: 32,
};

/// An ELF file whose section headers lie within it.
pub struct Elf<'a> {
    bytes: &'a [u8],
    layout: Layout,
    headers_at: usize,
    n_headers: usize,
    names_idx: usize,
}

fn number(bytes: &[u8], at: usize, n_bytes: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(n_bytes)?)?;
    Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn put(bytes: &mut [u8], at: usize, n_bytes: usize, value: u64) -> Option<()> {
    bytes.get_mut(at..at + n_bytes)?.copy_from_slice(&value.to_le_bytes()[..n_bytes]);
    Some(())
}

fn text_at(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
}

impl<'a> Elf<'a> {
    pub fn read(bytes: &'a [u8]) -> Option<Elf<'a>> {
        if !bytes.starts_with(MAGIC) || *bytes.get(5)? != 1 {
            return None;
        }
        let layout = match bytes.get(4)? {
            1 => ELF32,
            2 => ELF64,
            _ => return None,
        };
        let headers_at = number(bytes, layout.e_shoff, layout.word)? as usize;
        let size = number(bytes, layout.e_shentsize, 2)? as usize;
        // More sections than fit the field are counted elsewhere; nobody has that many.
        let n_headers = number(bytes, layout.e_shentsize + 2, 2)? as usize;
        let names_idx = number(bytes, layout.e_shentsize + 4, 2)? as usize;
        let end = headers_at.checked_add(n_headers.checked_mul(size)?)?;
        let is_whole = size == layout.header && n_headers > 0 && names_idx < n_headers && end <= bytes.len();
        is_whole.then_some(Elf { bytes, layout, headers_at, n_headers, names_idx })
    }

    fn header(&self, idx: usize) -> &'a [u8] {
        &self.bytes[self.headers_at + idx * self.layout.header..][..self.layout.header]
    }

    fn field(&self, idx: usize, at: usize) -> u64 {
        number(self.header(idx), at, self.layout.word).unwrap_or(0)
    }

    fn kind(&self, idx: usize) -> u64 {
        number(self.header(idx), 4, 4).unwrap_or(0)
    }

    fn content(&self, idx: usize) -> &'a [u8] {
        if self.kind(idx) == SHT_NOBITS {
            return &[];
        }
        let at = self.field(idx, self.layout.sh_offset) as usize;
        let size = self.field(idx, self.layout.sh_size) as usize;
        at.checked_add(size).and_then(|end| self.bytes.get(at..end)).unwrap_or_default()
    }

    /// Contents of every section of that name.
    pub fn sections(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let names = self.content(self.names_idx);
        let is_named =
            move |idx: &usize| text_at(names, number(self.header(*idx), 0, 4).unwrap_or(0) as usize) == name.as_bytes();
        (0..self.n_headers).filter(is_named).map(|idx| self.content(idx))
    }

    /// Names of the shared libraries it is linked with.
    pub fn needed(&self) -> Vec<String> {
        let mut needed = Vec::new();
        for idx in (0..self.n_headers).filter(|idx| self.kind(*idx) == SHT_DYNAMIC) {
            let names_idx = number(self.header(idx), self.layout.sh_link, 4).unwrap_or(0) as usize;
            if names_idx >= self.n_headers {
                continue;
            }
            let names = self.content(names_idx);
            for entry in self.content(idx).chunks_exact(2 * self.layout.word) {
                let (Some(tag), Some(value)) =
                    (number(entry, 0, self.layout.word), number(entry, self.layout.word, self.layout.word))
                else {
                    continue;
                };
                if tag == DT_NEEDED {
                    needed.push(String::from_utf8_lossy(text_at(names, value as usize)).into_owned());
                }
            }
        }
        needed
    }

    /// Names that other files can use.
    pub fn defined(&self) -> Vec<String> {
        let (size, info_at, section_at) = if self.layout.word == 8 { (24, 4, 6) } else { (16, 12, 14) };
        let mut names = Vec::new();
        for idx in (0..self.n_headers).filter(|idx| self.kind(*idx) == SHT_SYMTAB) {
            let texts_idx = number(self.header(idx), self.layout.sh_link, 4).unwrap_or(0) as usize;
            if texts_idx >= self.n_headers {
                continue;
            }
            let texts = self.content(texts_idx);
            for symbol in self.content(idx).chunks_exact(size) {
                let field = |at: usize, n_bytes: usize| number(symbol, at, n_bytes).unwrap_or(0);
                let is_visible = matches!(field(info_at, 1) >> 4, 1 | 2);
                if is_visible && field(section_at, 2) != 0 {
                    names.push(String::from_utf8_lossy(text_at(texts, field(0, 4) as usize)).into_owned());
                }
            }
        }
        names
    }

    /// The file with one more section, which is not loaded and which linkers join with its namesakes. The names and the
    /// headers are written anew at the end; everything else stays where it is.
    pub fn with_section(&self, name: &str, content: &[u8]) -> Option<Vec<u8>> {
        let layout = self.layout;
        if self.kind(self.names_idx) != SHT_STRTAB || self.n_headers >= 0xff00 - 1 {
            return None;
        }
        let mut headers = self.bytes[self.headers_at..][..self.n_headers * layout.header].to_vec();
        let is_last = self.headers_at + headers.len() == self.bytes.len();
        let mut bytes = self.bytes[..if is_last { self.headers_at } else { self.bytes.len() }].to_vec();
        let content_at = bytes.len();
        bytes.extend_from_slice(content);
        // The names may be those of symbols as well, so they keep their places.
        let mut names = self.content(self.names_idx).to_vec();
        let name_at = names.len();
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        let names_header = self.names_idx * layout.header;
        put(&mut headers, names_header + layout.sh_offset, layout.word, bytes.len() as u64)?;
        put(&mut headers, names_header + layout.sh_size, layout.word, names.len() as u64)?;
        bytes.extend_from_slice(&names);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let mut header = vec![0; layout.header];
        put(&mut header, 0, 4, name_at as u64)?;
        put(&mut header, 4, 4, SHT_PROGBITS)?;
        put(&mut header, layout.sh_flags, layout.word, 0)?;
        put(&mut header, layout.sh_offset, layout.word, content_at as u64)?;
        put(&mut header, layout.sh_size, layout.word, content.len() as u64)?;
        put(&mut header, layout.sh_addralign, layout.word, 1)?;
        headers.extend_from_slice(&header);
        let headers_at = bytes.len() as u64;
        bytes.extend_from_slice(&headers);
        put(&mut bytes, layout.e_shoff, layout.word, headers_at)?;
        put(&mut bytes, layout.e_shentsize + 2, 2, self.n_headers as u64 + 1)?;
        Some(bytes)
    }
}

/// The members of an archive; those of a thin one are files beside it.
pub enum Member<'a> {
    Within(&'a [u8]),
    File(PathBuf),
}

pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n")
}

pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Members other than the tables of symbols and names. Ends at the first that makes no sense.
pub fn members<'a>(bytes: &'a [u8], path: &Path) -> Vec<Member<'a>> {
    const HEADER: usize = 60;
    let is_thin = bytes.starts_with(b"!<thin>\n");
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut long_names: &[u8] = &[];
    let mut members = Vec::new();
    let mut at = 8;
    while let Some(header) = bytes.get(at..at + HEADER) {
        let field = |from: usize, to: usize| String::from_utf8_lossy(&header[from..to]).trim_end().to_string();
        let name = field(0, 16);
        let Ok(size) = field(48, 58).parse::<usize>() else { break };
        at += HEADER;
        let is_table = matches!(name.as_str(), "/" | "//" | "/SYM64/") || name.starts_with("__.SYMDEF");
        if is_thin && !is_table {
            let spelled = match name.strip_prefix('/').and_then(|offset| offset.parse::<usize>().ok()) {
                Some(offset) => {
                    let rest = long_names.get(offset..).unwrap_or_default();
                    let end = rest.windows(2).position(|pair| pair == b"/\n").unwrap_or(rest.len());
                    String::from_utf8_lossy(&rest[..end]).into_owned()
                }
                None => name.trim_end_matches('/').to_string(),
            };
            members.push(Member::File(folder.join(spelled)));
            continue;
        }
        let Some(content) = bytes.get(at..at + size) else { break };
        match name.as_str() {
            "//" => long_names = content,
            _ if is_table => {}
            _ => members.push(Member::Within(content)),
        }
        at += size.next_multiple_of(2);
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_no_elf() {
        assert!(Elf::read(b"").is_none());
        assert!(Elf::read(b"\x7fELF").is_none());
        let mut bytes = vec![0u8; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(Elf::read(&bytes).is_none());
        put(&mut bytes, ELF64.e_shoff, 8, u64::MAX - 3).expect("in range");
        put(&mut bytes, ELF64.e_shentsize, 2, 64).expect("in range");
        put(&mut bytes, ELF64.e_shentsize + 2, 2, 9).expect("in range");
        assert!(Elf::read(&bytes).is_none());
    }

    #[test]
    fn a_truncated_archive_ends() {
        assert!(members(b"!<arch>\nabc", Path::new("x.a")).is_empty());
        let mut bytes = b"!<arch>\n".to_vec();
        bytes.extend_from_slice(format!("{:<16}{:<32}{:<10}`\n", "a.o/", "", 100).as_bytes());
        assert!(members(&bytes, Path::new("x.a")).is_empty());
    }
}
