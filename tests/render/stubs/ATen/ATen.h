// As much of ATen as a binding uses: tensors with a shape and a dtype, and checks.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace at {

enum class ScalarType { Byte, Char, Short, Int, Long, Half, Float, BFloat16, UInt16, UInt32 };
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32;
enum class DeviceType { CPU, PrivateUse1 };
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << static_cast<int>(type); }

class IntArrayRef {
public:
    IntArrayRef(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
    IntArrayRef(const std::vector<int64_t>& sizes) : sizes_(sizes) {}
    bool operator==(const IntArrayRef& other) const { return sizes_ == other.sizes_; }
    int64_t operator[](int64_t at) const { return sizes_[static_cast<size_t>(at)]; }
    const std::vector<int64_t>& vec() const { return sizes_; }

private:
    std::vector<int64_t> sizes_;
};

inline std::ostream& operator<<(std::ostream& out, const IntArrayRef& sizes) {
    for (int64_t size : sizes.vec()) {
        out << size << ' ';
    }
    return out;
}

class TensorOptions {
public:
    TensorOptions() = default;
    TensorOptions(DeviceType) {}
    TensorOptions dtype(ScalarType type) const {
        TensorOptions made(*this);
        made.type = type;
        return made;
    }
    ScalarType type = kFloat;
};

class Tensor {
public:
    Tensor(IntArrayRef sizes, ScalarType type) : sizes_(sizes), type_(type) {
        int64_t count = 1;
        for (int64_t size : sizes.vec()) {
            count *= size;
        }
        bytes_ = std::make_shared<std::vector<char>>(static_cast<size_t>(count * 8));
    }
    ScalarType scalar_type() const { return type_; }
    IntArrayRef sizes() const { return sizes_; }
    int64_t size(int64_t axis) const { return sizes_.vec()[static_cast<size_t>(axis)]; }
    int64_t dim() const { return static_cast<int64_t>(sizes_.vec().size()); }
    int64_t stride(int64_t) const { return 1; }
    IntArrayRef strides() const { return sizes_; }
    bool is_contiguous() const { return true; }
    TensorOptions options() const { return TensorOptions().dtype(type_); }
    void* data_ptr() const { return bytes_->data(); }

private:
    IntArrayRef sizes_;
    ScalarType type_;
    std::shared_ptr<std::vector<char>> bytes_;
};

inline Tensor empty(IntArrayRef sizes, const TensorOptions& options) { return Tensor(sizes, options.type); }

inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef, const TensorOptions& options) {
    return Tensor(sizes, options.type);
}

}  // namespace at

template <class... Parts>
void StubCheck(bool holds, const Parts&... parts) {
    if (!holds) {
        std::ostringstream text;
        (text << ... << parts);
        throw std::runtime_error(text.str());
    }
}

#define TORCH_CHECK(...) StubCheck(__VA_ARGS__)
