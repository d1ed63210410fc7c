//! A column of numbers that takes as many bytes a value as its largest one needs.

use std::fmt;

/// Whole numbers in a row, each in the same number of bytes: none while all are 0, up to eight.
#[derive(Clone, Default)]
pub struct Column {
    /// The values, `width` bytes each, the lowest byte first.
    packed: Vec<u8>,
    width: usize,
    len: usize,
    /// How many values to make room for when the width changes.
    room: usize,
}

impl Column {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value in this row; 0, as where nothing was recorded, behind the last row.
    pub fn get(&self, row: usize) -> u64 {
        let bytes = self.packed.get(self.place(row)).unwrap_or_default();
        match *bytes {
            [one] => u64::from(one),
            [one, two] => u64::from(u16::from_le_bytes([one, two])),
            [one, two, three, four] => u64::from(u32::from_le_bytes([one, two, three, four])),
            _ => bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
        }
    }

    /// All values in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len).map(|row| self.get(row))
    }

    /// Adds a value; amortised O(1), as a column can widen eight times at most.
    pub fn push(&mut self, value: u64) {
        self.widen_for(value);
        self.packed.extend_from_slice(&value.to_le_bytes()[..self.width]);
        self.len += 1;
    }

    /// Replaces the value in this row; behind the last row there is nothing to replace.
    pub fn set(&mut self, row: usize, value: u64) {
        if row < self.len {
            self.widen_for(value);
            let place = self.place(row);
            self.packed[place].copy_from_slice(&value.to_le_bytes()[..self.width]);
        }
    }

    /// Makes room for this many values more, and no more than that, also when the column widens.
    pub fn reserve(&mut self, values: usize) {
        self.room = self.len.saturating_add(values);
        self.packed.reserve_exact(values.saturating_mul(self.width));
    }

    /// Bytes that the values take.
    pub fn bytes(&self) -> usize {
        self.packed.len()
    }

    fn place(&self, row: usize) -> std::ops::Range<usize> {
        let from = row.saturating_mul(self.width);
        from..from.saturating_add(self.width)
    }

    fn widen_for(&mut self, value: u64) {
        let width = (u64::BITS - value.leading_zeros()).div_ceil(8) as usize;
        if width <= self.width {
            return;
        }
        let mut packed = Vec::with_capacity(width.saturating_mul(self.room.max(self.len + 1)));
        for value in self.iter() {
            packed.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        self.packed = packed;
        self.width = width;
    }
}

impl FromIterator<u64> for Column {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(column: &Column) -> Vec<u64> {
        column.iter().collect()
    }

    #[test]
    fn widening_keeps_the_values() {
        let mut column = Column::default();
        let mut pushed = Vec::new();
        for (value, bytes) in [(0, 0), (0, 0), (255, 3), (256, 8), (1, 10), (1 << 32, 30), (u64::MAX, 56)] {
            column.push(value);
            pushed.push(value);
            assert_eq!(values(&column), pushed);
            assert_eq!(column.bytes(), bytes, "after {value}");
        }
        assert_eq!((column.len(), column.get(column.len()), column.get(usize::MAX)), (7, 0, 0));
    }

    #[test]
    fn zeros_take_no_bytes() {
        let zeros: Column = std::iter::repeat_n(0, 1000).collect();
        assert_eq!((zeros.len(), zeros.bytes(), zeros.is_empty()), (1000, 0, false));
        assert!(Column::default().is_empty());
    }

    #[test]
    fn a_value_is_replaced_by_a_wider_one() {
        let mut column: Column = [1, 0, 3].into_iter().collect();
        column.set(1, 70_000);
        column.set(3, 9);
        assert_eq!(values(&column), [1, 70_000, 3]);
    }

    #[test]
    fn reserved_room_is_kept_over_widening() {
        let mut column = Column::default();
        column.reserve(100);
        column.push(1);
        column.push(300);
        assert_eq!(column.packed.capacity(), 200);
    }

    /// Values of every width.
    fn any_value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..=64).prop_map(|(value, bits)| value.checked_shr(bits).unwrap_or(0))
    }

    proptest! {
        #[test]
        fn a_column_is_a_vector(pushed in prop::collection::vec(any_value(), 0..200), at in any::<prop::sample::Index>(), new in any_value()) {
            let mut column: Column = pushed.iter().copied().collect();
            prop_assert_eq!(&values(&column), &pushed);
            if !pushed.is_empty() {
                let row = at.index(pushed.len());
                let mut changed = pushed;
                changed[row] = new;
                column.set(row, new);
                prop_assert_eq!(values(&column), changed);
            }
        }
    }
}
