//! Constants: values that are an address plus a number, and the bytes of initialisers.

use ir::{Init, Reloc, SymbolRef};

use super::ModuleTranslator;
use crate::llvm::{Linkage, Opcode, TypeKind, Value, ValueKind};

/// `plus - minus + addend`: all that a linker could resolve.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linear {
    pub plus: Option<SymbolRef>,
    pub minus: Option<SymbolRef>,
    pub addend: i64,
}

impl Linear {
    fn number(addend: i64) -> Linear {
        Linear { addend, ..Linear::default() }
    }

    fn symbol(symbol: SymbolRef) -> Linear {
        Linear { plus: Some(symbol), ..Linear::default() }
    }

    pub fn as_number(self) -> Option<i64> {
        (self.plus.is_none() && self.minus.is_none()).then_some(self.addend)
    }

    fn add(self, other: Linear) -> Option<Linear> {
        let one = |a: Option<SymbolRef>, b: Option<SymbolRef>| match (a, b) {
            (Some(_), Some(_)) => None,
            (a, b) => Some(a.or(b)),
        };
        Some(Linear {
            plus: one(self.plus, other.plus)?,
            minus: one(self.minus, other.minus)?,
            addend: self.addend.wrapping_add(other.addend),
        })
    }

    fn sub(self, other: Linear) -> Option<Linear> {
        if self.plus.is_some() && self.plus == other.plus && self.minus.is_none() && other.minus.is_none() {
            return Some(Linear::number(self.addend.wrapping_sub(other.addend)));
        }
        self.add(Linear { plus: other.minus, minus: other.plus, addend: other.addend.wrapping_neg() })
    }
}

/// An initialiser under construction.
struct Image {
    bytes: Vec<u8>,
    relocs: Vec<Reloc>,
}

impl Image {
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }
}

impl ModuleTranslator<'_> {
    /// The value of a constant of at most 64 bits, where a linker could resolve it.
    pub(super) fn linear(&mut self, constant: Value) -> Option<Linear> {
        match constant.kind() {
            ValueKind::LLVMConstantIntValueKind => {
                (constant.ty().int_width() <= 64).then(|| Linear::number(constant.int_signed()))
            }
            ValueKind::LLVMConstantPointerNullValueKind => Some(Linear::number(0)),
            ValueKind::LLVMFunctionValueKind | ValueKind::LLVMGlobalVariableValueKind => {
                let is_absent = constant.is_declaration() && constant.linkage() == Linkage::LLVMExternalWeakLinkage;
                Some(if is_absent { Linear::number(0) } else { Linear::symbol(self.symbol(constant)) })
            }
            ValueKind::LLVMGlobalAliasValueKind => self.linear(constant.aliasee()),
            ValueKind::LLVMBlockAddressValueKind => {
                let (function, block) = constant.block_address();
                let block = self.numbering(function).id(block)?;
                Some(Linear::symbol(SymbolRef::Block(self.function_id(function), block)))
            }
            ValueKind::LLVMConstantExprValueKind => self.linear_expression(constant),
            _ => None,
        }
    }

    fn linear_expression(&mut self, constant: Value) -> Option<Linear> {
        match constant.const_opcode() {
            Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt => {
                let is_scalar = constant.ty().kind() != TypeKind::LLVMVectorTypeKind;
                if is_scalar { self.linear(constant.operand(0)) } else { None }
            }
            Opcode::LLVMIntToPtr => {
                let operand = constant.operand(0);
                let value = self.linear(operand)?;
                match value.as_number() {
                    Some(number) => Some(Linear::number(mask(number, operand.ty().int_width()))),
                    None => Some(value),
                }
            }
            Opcode::LLVMTrunc => {
                let value = self.linear(constant.operand(0))?;
                let bits = constant.ty().int_width();
                match value.as_number() {
                    Some(number) => Some(Linear::number(sign_extend(number, bits))),
                    // Truncated where it is stored.
                    None => Some(value),
                }
            }
            Opcode::LLVMAdd => self.linear(constant.operand(0))?.add(self.linear(constant.operand(1))?),
            Opcode::LLVMSub => self.linear(constant.operand(0))?.sub(self.linear(constant.operand(1))?),
            Opcode::LLVMMul | Opcode::LLVMXor => {
                let a = self.linear(constant.operand(0))?.as_number()?;
                let b = self.linear(constant.operand(1))?.as_number()?;
                let value = if constant.const_opcode() == Opcode::LLVMMul { a.wrapping_mul(b) } else { a ^ b };
                Some(Linear::number(value))
            }
            Opcode::LLVMGetElementPtr => {
                let base = self.linear(constant.operand(0))?;
                let mut ty = constant.gep_element_type();
                let mut offset = 0i64;
                for operand in 1..constant.n_operands() {
                    let index = self.linear(constant.operand(operand))?.as_number()?;
                    offset = offset.wrapping_add(self.layout.step_offset(&mut ty, operand, index));
                }
                base.add(Linear::number(offset))
            }
            _ => None,
        }
    }

    pub(super) fn initialiser(&mut self, global: Value, n_bytes: u64) -> Result<Init, String> {
        let Some(constant) = global.initializer() else { return Ok(Init::External) };
        if constant.is_null() || constant.is_undef() {
            return Ok(Init::Zero);
        }
        let mut image = Image { bytes: vec![0; n_bytes as usize], relocs: Vec::new() };
        self.write(constant, 0, &mut image)?;
        Ok(Init::Bytes { bytes: image.bytes, relocs: image.relocs })
    }

    fn write(&mut self, constant: Value, offset: u64, image: &mut Image) -> Result<(), String> {
        if constant.is_null() || constant.is_undef() {
            return Ok(());
        }
        let ty = constant.ty();
        match constant.kind() {
            ValueKind::LLVMConstantIntValueKind => {
                let bits = ty.int_width();
                let n_bytes = bits.div_ceil(8) as usize;
                let bytes: Vec<u8> = constant.int_limbs(bits).iter().flat_map(|limb| limb.to_le_bytes()).collect();
                image.put(offset, &bytes[..n_bytes]);
                Ok(())
            }
            ValueKind::LLVMConstantFPValueKind => {
                let bits = u32::from(self.shapes.of(ty)?[0].bits);
                let n_bytes = bits.div_ceil(8) as usize;
                image.put(offset, &self.context.float_bits(constant, bits).to_le_bytes()[..n_bytes]);
                Ok(())
            }
            ValueKind::LLVMConstantStructValueKind => (0..ty.n_fields()).try_for_each(|field| {
                let element = constant.operand(field);
                self.write(element, offset + self.layout.field_offset(ty, field), image)
            }),
            ValueKind::LLVMConstantArrayValueKind
            | ValueKind::LLVMConstantDataArrayValueKind
            | ValueKind::LLVMConstantVectorValueKind
            | ValueKind::LLVMConstantDataVectorValueKind => self.write_elements(constant, offset, image),
            _ => self.write_address(constant, offset, image),
        }
    }

    fn write_elements(&mut self, constant: Value, offset: u64, image: &mut Image) -> Result<(), String> {
        if let Some(bytes) = constant.string_bytes() {
            image.put(offset, &bytes);
            return Ok(());
        }
        let ty = constant.ty();
        let is_array = ty.kind() == TypeKind::LLVMArrayTypeKind;
        let n_elements = if is_array { ty.array_len() } else { ty.vector_len() };
        let stride = self.layout.alloc_size(ty.element());
        (0..n_elements).try_for_each(|i| match constant.aggregate_element(i as u32) {
            Some(element) => self.write(element, offset + i * stride, image),
            None => Err(format!("an initialiser of type `{}`", ty.print())),
        })
    }

    fn write_address(&mut self, constant: Value, offset: u64, image: &mut Image) -> Result<(), String> {
        let n_bytes = u64::from(self.shapes.of(constant.ty())?[0].bits).div_ceil(8) as u8;
        let value = self.linear(constant).ok_or_else(|| format!("the initialiser `{}`", constant.print()))?;
        match value {
            Linear { plus: Some(plus), minus, addend } => {
                image.relocs.push(Reloc { offset, bytes: n_bytes, plus, minus, addend });
                Ok(())
            }
            Linear { plus: None, minus: None, addend } => {
                image.put(offset, &addend.to_le_bytes()[..usize::from(n_bytes)]);
                Ok(())
            }
            Linear { plus: None, minus: Some(_), .. } => Err(format!("the initialiser `{}`", constant.print())),
        }
    }
}

fn mask(value: i64, bits: u32) -> i64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

fn sign_extend(value: i64, bits: u32) -> i64 {
    if bits >= 64 { value } else { value << (64 - bits) >> (64 - bits) }
}
