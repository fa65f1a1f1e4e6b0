// Written by coefficients.py; do not edit.
#pragma once

namespace jitwise {
namespace math {

namespace binary64 {

// error 1.56e-18 on [-0.350039, 0.350039]
constexpr double expm1[] = {
    0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
    0x1.111111110ff87p-7, 0x1.6c16c16c16212p-10, 0x1.a01a01aca0134p-13,
    0x1.a01a01a741b3cp-16, 0x1.71ddffef9e7b1p-19, 0x1.27e4da1a3bf04p-22,
    0x1.af52906239de4p-26, 0x1.1f75aba0b1e2ep-29};

// error 2.09e-18 on [0, 0.0294667]
constexpr double atanh[] = {
    0x1.5555555555555p-1, 0x1.9999999999a39p-2, 0x1.2492492476a1ap-2,
    0x1.c71c7201a55d7p-3, 0x1.745cf8e4bba1bp-3, 0x1.3b1c3c1c81c8fp-3,
    0x1.0fbde0f4ad17bp-3, 0x1.0c0aff044a970p-3};

// error 4.94e-14 on [-0.0314941, 0.0314941]
constexpr double log1p_rest[] = {
    0x1.5555555555555p-2, -0x1.000000002f027p-2, 0x1.99999999ef12dp-3,
    -0x1.555549c38037ap-3, 0x1.24923e9ff0d6ep-3, -0x1.005b197e5df34p-3,
    0x1.c7c2152af9079p-4};

// error 1.02e-17 on [-0.0314941, 0.0314941]
constexpr double log1p_precise[] = {
    0x1.5555555555555p-2, -0x1.fffffffffff9ap-3, 0x1.999999999993bp-3,
    -0x1.55555556a5401p-3, 0x1.24924925c85e8p-3, -0x1.ffffdacca57a6p-4,
    0x1.c71c4f7028c8fp-4, -0x1.9a5cdc55e235ap-4, 0x1.7511558769c27p-4};

// error 5.37e-18 on [0, 0.00024797]
constexpr double atanh_close[] = {
    0x1.5555555555555p-1, 0x1.999999999ca64p-2, 0x1.2492483465226p-2,
    0x1.c74bbbd0d4fc8p-3};

// error 2.73e-18 on [0, 0.0294667]
constexpr double atanh_third_base_two[] = {
    0x1.2776c50ef9bfep-1, 0x1.a61762a7adfa9p-2, 0x1.484b13d79c08bp-2,
    0x1.0c9a84bf7d5e8p-2, 0x1.c68f2edc66a05p-3, 0x1.89feda6ebf723p-3,
    0x1.59dfb3503e6b3p-3, 0x1.5a695e156ba31p-3};

// error 3.39e-19 on [0, 2.46987]
constexpr double sine_rest[] = {
    -0x1.5555555555555p-3, 0x1.1111111111107p-7, -0x1.a01a01a018a8cp-13,
    0x1.71de3a54550e7p-19, -0x1.ae6455a0f523dp-26, 0x1.612401122d89fp-33,
    -0x1.ae512165ca336p-41, 0x1.89a19d400e252p-49};

// error 2.06e-17 on [0, 0.617467]
constexpr double sine_quarter[] = {
    -0x1.5555555555555p-3, 0x1.1111111110babp-7, -0x1.a01a019e820aep-13,
    0x1.71de37946ed6dp-19, -0x1.ae6008d114485p-26, 0x1.5e0a4fc16be59p-33};

// error 1.29e-18 on [0, 0.617467]
constexpr double cosine_rest[] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16,
    -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29, -0x1.907cd8ff5ede7p-37};

// error 7.73e-18 on [0, 0.3026]
constexpr double tanh_rest[] = {
    -0x1.5555555555555p-2, 0x1.1111111111032p-3, -0x1.ba1ba1b9feb3cp-5,
    0x1.664f48770be76p-6, -0x1.226e32eebbb26p-7, 0x1.d6d338edc6017p-9,
    -0x1.7d97cb7a94b76p-10, 0x1.34c57de48a611p-11, -0x1.ec0e9550d42c9p-13,
    0x1.64f707d11ba4fp-14, -0x1.59962093e21d0p-16};

// error 6.24e-10 on [0, 0.617467]
constexpr double tan_rest[] = {
    0x1.5555554d4a2cdp-2, 0x1.11111e1164b92p-3, 0x1.ba14caa67a27fp-5,
    0x1.66fd1dbc2dcf4p-6, 0x1.1a10928aed20cp-7, 0x1.223e327b9c11cp-8,
    -0x1.28a30cdd754abp-18, 0x1.d59f541b6f656p-10};

// error 2.56e-22 on [0, 1.001]
constexpr double sinh_rest[] = {
    0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a001p-13,
    0x1.71de3a556f9acp-19, 0x1.ae64567924223p-26, 0x1.612467d1c2fabp-33,
    0x1.ae777839b3498p-41, 0x1.99f1ba85cd318p-49};

// error 4.33e-20 on [0, 0.171744]
constexpr double atan_rest[] = {
    -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920a3p-3,
    0x1.c71c71c6dd2d8p-4, -0x1.745d173542f7ap-4, 0x1.3b13aea53b18fp-4,
    -0x1.1110ce80547d7p-4, 0x1.e1d8ddf459f4dp-5, -0x1.aebcad6415c5dp-5,
    0x1.829a09d7f37d9p-5, -0x1.5030c28013685p-5, 0x1.f5ba271a2a8e8p-6,
    -0x1.c7a6bc6dde7f9p-7};

// error 9.82e-19 on [0, 0.2501]
constexpr double asin_rest[] = {
    0x1.5555555555555p-3, 0x1.3333333333389p-4, 0x1.6db6db6dac0eap-5,
    0x1.f1c71c7a5e151p-6, 0x1.6e8ba121b9d5fp-6, 0x1.1c4efd20ebb99p-6,
    0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7, 0x1.3b462d121c5d2p-7,
    0x1.31777489dfd29p-7, 0x1.8dcdf11997e0fp-9, 0x1.40c91fa8deb7ep-6,
    -0x1.3bd7e353ddbc2p-6, 0x1.e58a4f278e007p-6};

// error 1.51e-6 on [0.707107, 1.41421]
constexpr double cbrt_start[] = {
    0x1.b17799571fb4fp-2, 0x1.0c452fa1d5b51p+0, -0x1.a3eba8ab9e21bp-1,
    0x1.fb6e95d10c7dfp-2, -0x1.60a3892bd13e0p-3, 0x1.a2dfec4a72870p-6};

constexpr double pi[] = {
    0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

constexpr double half_pi[] = {
    0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

constexpr double pi_parts[] = {
    0x1.921fb54442d18p+1, 0x1.1a62633100000p-53, 0x1.1701b839a2520p-87};

constexpr double half_pi_parts[] = {
    0x1.921fb54442d18p+0, 0x1.1a62633100000p-54, 0x1.1701b839a2520p-88};

constexpr double pi_thirds[] = {
    0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1.f1976b7ed8fbcp-109};

constexpr double ln2_parts[] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

constexpr double quarter_pi[] = {
    0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};

constexpr double three_quarter_pi[] = {
    0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54};

constexpr double ln2[] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

constexpr double ln2_short[] = {
    0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45, 0x1.f97b57a079a19p-103};

constexpr double ln2_inverse[] = {
    0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

constexpr double ln10_inverse[] = {
    0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

constexpr double log10_2[] = {
    0x1.34413509f7800p-2, 0x1.fef311f12b358p-46};

constexpr double two_over_ln2[] = {
    0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};

constexpr double two_thirds_over_ln2[] = {
    0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55};

constexpr double inverse_pi[] = {
    0x1.45f306dc9c883p-2};

constexpr double two_over_pi[] = {
    0x1.45f306dc9c883p-1};

constexpr double cbrt_2[] = {
    0x1.428a2f98d728bp+0};

constexpr double cbrt_half[] = {
    0x1.965fea53d6e3dp-1};

// error 1.29e-17 on [-0.0218775, 0.0218775]
constexpr double expm1_sixteenth[] = {
    0x1.0000000000005p-1, 0x1.55555554836f3p-3, 0x1.555555546af0fp-5,
    0x1.111242f8f05f7p-7, 0x1.6c185130df6d8p-10};

constexpr double sine_centre[] = {
    0x1.e76d800000000p-1};

// error 5.26e-19 on [-0.952007, 1.5228]
constexpr double sine_ratio[] = {
    -0x1.35d47b6e5a186p-3, -0x1.35ec795b006f3p-3, 0x1.fdf6ca9e58c6bp-8,
    -0x1.8a908dd67ad5ap-13, 0x1.6227174dbf0a7p-19, -0x1.9ee16df9d8ac1p-26,
    0x1.5617609cc4eccp-33, -0x1.a29923242499cp-41, 0x1.887cf866e4b86p-49};

constexpr double exp2_sixteenths[] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
    0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
    0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
    0x1.ea4afa2a490dap+0};

constexpr double exp2_sixteenths_low[] = {
    0x0.0p+0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55,
    0x1.9b07eb6c70573p-54, 0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55,
    0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54, -0x1.bdd3413b26456p-54,
    -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55,
    -0x1.e9c23179c2893p-54};

constexpr double log_sixteenths[] = {
    0x0.0p+0, -0x1.f0a30c0118000p-5, -0x1.e27076e2b0000p-4,
    -0x1.5ff3070a79000p-3, -0x1.c8ff7c79aa000p-3, -0x1.1675cababa800p-2,
    -0x1.4618bc21c6000p-2, -0x1.739d7f6bbd000p-2, -0x1.9f323ecbf9800p-2,
    -0x1.c8ff7c79a9800p-2, -0x1.f128f5faf0800p-2, -0x1.0be72e4252c00p-1,
    -0x1.1e85f5e704000p-1, -0x1.307d7334f1000p-1, -0x1.41d8fe8467400p-1,
    -0x1.52a2d265bc400p-1};

constexpr double log_sixteenths_low[] = {
    0x0.0p+0, 0x1.d599e83368e91p-45, 0x1.a342c2af0003cp-45,
    -0x1.e9e439f105039p-46, 0x1.7794f689f8434p-45, 0x1.f1fc63382a8f0p-46,
    0x1.3d82f484c84ccp-46, -0x1.a7389314feb50p-52, -0x1.2fcada35d9bd0p-48,
    -0x1.10d612ec0f798p-45, 0x1.134ca37c4eecep-46, 0x1.7d49676844cc2p-45,
    -0x1.a07bd8b34be7cp-46, -0x1.7c3f6b2143eadp-46, 0x1.519b9b433d0bap-45,
    -0x1.aaee77c8af15bp-45};

constexpr double log2_sixteenths[] = {
    0x0.0p+0, -0x1.663f6fac92000p-4, -0x1.5c01a39fbd000p-3,
    -0x1.fbc16b9027000p-3, -0x1.49a784bcd1800p-2, -0x1.91bba891f1800p-2,
    -0x1.d6753e032e800p-2, -0x1.0c10500d63c00p-1, -0x1.2b803473f7c00p-1,
    -0x1.49a784bcd1c00p-1, -0x1.66a008e478800p-1, -0x1.82809d5be7000p-1,
    -0x1.9d5d9fd501000p-1, -0x1.b74948f553400p-1, -0x1.d053f6d260800p-1,
    -0x1.e88c6b3626c00p-1};

constexpr double log2_sixteenths_low[] = {
    0x0.0p+0, 0x1.9d3066758fb3dp-45, -0x1.a1e7e802c4828p-45,
    0x1.fd7715c999d62p-45, -0x1.c57f2495fb7fap-45, 0x1.ee969a95f528fp-47,
    -0x1.077f1f5f0cc83p-45, 0x1.59a77da8ad64ap-45, 0x1.2f0c0bfe9dbecp-45,
    0x1.d406db502402dp-47, -0x1.979a5db68721dp-46, -0x1.cb6f70109b0f1p-47,
    -0x1.66cccab240e90p-46, 0x1.25b4b48ebcc9cp-45, -0x1.2ce6312ebb81dp-46,
    0x1.8d55de5c380fep-45};

constexpr double log10_sixteenths[] = {
    0x0.0p+0, -0x1.af5f92b010000p-6, -0x1.a30a9d60a0000p-5,
    -0x1.31b3055c48000p-4, -0x1.8cf1838864000p-4, -0x1.e3bc1ab0e2000p-4,
    -0x1.1b3e71ec95000p-3, -0x1.42c7e7fe40000p-3, -0x1.68a288b60b000p-3,
    -0x1.8cf1838865000p-3, -0x1.afd3e3a23b000p-3, -0x1.d165300e33000p-3,
    -0x1.f1bdeeb655000p-3, -0x1.087a0832fa800p-2, -0x1.178da53d1f000p-2,
    -0x1.2622b0ee3b800p-2};

constexpr double log10_sixteenths_low[] = {
    0x0.0p+0, 0x1.9f05921f59258p-46, 0x1.0163d7e67d282p-45,
    0x1.dcffc97be8c9cp-45, -0x1.019365163f2fcp-45, 0x1.8070aa756b03ep-46,
    0x1.0a888999b6be0p-48, 0x1.ff1d22abd8abep-46, -0x1.ff0ad8890c395p-45,
    0x1.fcd935d381a08p-45, -0x1.a003d5190aedep-45, -0x1.fb4e01451e226p-46,
    0x1.bfc9a4cb2c208p-45, 0x1.4ec19521eb05ap-48, 0x1.fec384c1692dep-46,
    0x1.8c47502c0dc5ap-48};

constexpr double pi_head[] = {
    0x1.921fb54400000p+1, 0x1.0b46000000000p-33};

constexpr double half_pi_head[] = {
    0x1.921fb54400000p+0, 0x1.0b46000000000p-34};

}  // namespace binary64

namespace binary32 {

// error 6.83e-8 on [-0.350039, 0.350039]
constexpr double expm1[] = {
    0x1.0000000000000p-1, 0x1.5554d820ee8e6p-3, 0x1.555516c1f2f08p-5,
    0x1.12106ba17fc04p-7, 0x1.6d1605bc8521fp-10};

// error 1.16e-9 on [0, 0.0294667]
constexpr double atanh[] = {
    0x1.5555554ba8b0ep-1, 0x1.9999eb9d6ddfep-2, 0x1.245c273432202p-2,
    0x1.ddd4dad98e4c4p-3};

// error 1.32e-6 on [-0.0314941, 0.0314941]
constexpr double log1p_rest[] = {
    0x1.5555555555555p-2, -0x1.0020852521bc6p-2, 0x1.99d159927f701p-3};

// error 1.79e-8 on [-0.0314941, 0.0314941]
constexpr double log1p_precise[] = {
    0x1.5555542747410p-2, -0x1.fffffdef64609p-3, 0x1.99e3f0bb8964dp-3,
    -0x1.559661e549332p-3};

// error 2.2e-9 on [0, 0.00024797]
constexpr double atanh_close[] = {
    0x1.5555554277400p-1, 0x1.99ac2cf953fc8p-2};

// error 1.41e-9 on [0, 0.0294667]
constexpr double atanh_third_base_two[] = {
    0x1.2776c50326b56p-1, 0x1.a617c6e50e103p-2, 0x1.4808ec34925d2p-2,
    0x1.1a7bb197b8de7p-2};

// error 2.8e-11 on [0, 2.46987]
constexpr double sine_rest[] = {
    -0x1.555555545f1aap-3, 0x1.11110fd9738c0p-7, -0x1.a01904fa690dap-13,
    0x1.71966d40f5096p-19, -0x1.9dad9aaf55915p-26};

// error 2.01e-8 on [0, 0.617467]
constexpr double sine_quarter[] = {
    -0x1.555552a294af6p-3, 0x1.110c2626729e1p-7, -0x1.9ac8562fead9ap-13};

// error 2.01e-9 on [0, 0.617467]
constexpr double cosine_rest[] = {
    0x1.55555440a4ef1p-5, -0x1.6c12d0ed61124p-10, 0x1.9bd7865700ebap-16};

// error 1.31e-8 on [0, 0.3026]
constexpr double tanh_rest[] = {
    -0x1.55555471488e4p-2, 0x1.110fe9f4baa34p-3, -0x1.b9a027aa8b650p-5,
    0x1.5d20af73d1a56p-6, -0x1.b12aec06471ffp-8};

// error 8.69e-9 on [0, 0.617467]
constexpr double tan_rest[] = {
    0x1.555555c53c9f7p-2, 0x1.111086aab8c37p-3, 0x1.ba52ef1e94df5p-5,
    0x1.623851a11a697p-6, 0x1.46956f8f9e686p-7, 0x1.34e25d5f22ed7p-10,
    0x1.f8461c3a22352p-9};

// error 2.0e-10 on [0, 1.001]
constexpr double sinh_rest[] = {
    0x1.5555554e7e8a8p-3, 0x1.11111eba74453p-7, 0x1.a008f6f8d1850p-13,
    0x1.78a8cec214455p-19};

// error 1.56e-8 on [0, 0.171744]
constexpr double atan_rest[] = {
    -0x1.55555445f9781p-2, 0x1.99972e94b0b70p-3, -0x1.241fe6a0f8387p-3,
    0x1.b8099094da58fp-4, -0x1.082f6c98ac69ap-4};

// error 4.18e-9 on [0, 0.2501]
constexpr double asin_rest[] = {
    0x1.555554e3e720bp-3, 0x1.333431929508ep-4, 0x1.6d5b8d274f089p-5,
    0x1.fd9219f7fef5fp-6, 0x1.18e1f5c4845ebp-6, 0x1.14138bacdace2p-5};

// error 8.39e-5 on [0.707107, 1.41421]
constexpr double cbrt_start[] = {
    0x1.fb0981ceb7d7fp-2, 0x1.76ade2dee9f55p-1, -0x1.217d40c0d4bc9p-2,
    0x1.c9349f1d940e5p-5};

constexpr double pi[] = {
    0x1.921fb60000000p+1, -0x1.777a5c0000000p-24};

constexpr double half_pi[] = {
    0x1.921fb60000000p+0, -0x1.777a5c0000000p-25};

constexpr double pi_parts[] = {
    0x1.921fb60000000p+1, -0x1.7780000000000p-24, 0x1.68c0000000000p-38,
    0x1.1a62640000000p-53};

constexpr double half_pi_parts[] = {
    0x1.921fb60000000p+0, -0x1.7780000000000p-25, 0x1.68c0000000000p-39,
    0x1.1a62640000000p-54};

constexpr double pi_thirds[] = {
    0x1.921fb60000000p+1, -0x1.777a5c0000000p-24, -0x1.ee59da0000000p-49};

constexpr double ln2_parts[] = {
    0x1.62e4300000000p-1, -0x1.05c6100000000p-29};

constexpr double quarter_pi[] = {
    0x1.921fb60000000p-1, -0x1.777a5c0000000p-26};

constexpr double three_quarter_pi[] = {
    0x1.2d97c80000000p+1, -0x1.99bc5c0000000p-28};

constexpr double ln2[] = {
    0x1.62e4300000000p-1, -0x1.05c6100000000p-29};

constexpr double ln2_short[] = {
    0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20, 0x1.ef357a0000000p-45};

constexpr double ln2_inverse[] = {
    0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};

constexpr double ln10_inverse[] = {
    0x1.bcb7b20000000p-2, -0x1.5b235e0000000p-27};

constexpr double log10_2[] = {
    0x1.3440000000000p-2, 0x1.3509f80000000p-18};

constexpr double two_over_ln2[] = {
    0x1.7154760000000p+1, 0x1.4ae0c00000000p-25};

constexpr double two_thirds_over_ln2[] = {
    0x1.ec709e0000000p-1, -0x1.e2fe020000000p-28};

constexpr double inverse_pi[] = {
    0x1.45f3060000000p-2};

constexpr double two_over_pi[] = {
    0x1.45f3060000000p-1};

constexpr double cbrt_2[] = {
    0x1.428a300000000p+0};

constexpr double cbrt_half[] = {
    0x1.965fea0000000p-1};

// error 1.66e-9 on [-0.0218775, 0.0218775]
constexpr double expm1_sixteenth[] = {
    0x1.00022e0000000p-1, 0x1.55572a0000000p-3};

constexpr double sine_centre[] = {
    0x1.e778800000000p-1};

// error 8.29e-9 on [-0.952091, 1.52271]
constexpr double sine_ratio[] = {
    -0x1.35db240000000p-3, -0x1.35ebca0000000p-3, 0x1.fdf6820000000p-8,
    -0x1.8a995a0000000p-13, 0x1.5d1c0c0000000p-19};

constexpr double exp2_sixteenths[] = {
    0x1.0000000000000p+0, 0x1.0b55860000000p+0, 0x1.172b840000000p+0,
    0x1.2387a60000000p+0, 0x1.306fe00000000p+0, 0x1.3dea640000000p+0,
    0x1.4bfdae0000000p+0, 0x1.5ab07e0000000p+0, 0x1.6a09e60000000p+0,
    0x1.7a11480000000p+0, 0x1.8ace540000000p+0, 0x1.9c49180000000p+0,
    0x1.ae89fa0000000p+0, 0x1.c199be0000000p+0, 0x1.d5818e0000000p+0,
    0x1.ea4afa0000000p+0};

constexpr double exp2_sixteenths_low[] = {
    0x0.0p+0, 0x1.9f31220000000p-25, -0x1.c157420000000p-27,
    0x1.ceac480000000p-25, 0x1.4636e20000000p-25, 0x1.8246840000000p-25,
    -0x1.593abc0000000p-25, -0x1.5bd5ec0000000p-27, 0x1.9fcef40000000p-26,
    -0x1.829fd00000000p-25, 0x1.15506e0000000p-27, 0x1.51f8480000000p-27,
    -0x1.a94b140000000p-26, -0x1.3d56b20000000p-27, -0x1.822dbc0000000p-27,
    0x1.52486c0000000p-27};

constexpr double log_sixteenths[] = {
    0x0.0p+0, -0x1.f0a0000000000p-5, -0x1.e270000000000p-4,
    -0x1.5ff0000000000p-3, -0x1.c900000000000p-3, -0x1.1674000000000p-2,
    -0x1.4618000000000p-2, -0x1.739c000000000p-2, -0x1.9f34000000000p-2,
    -0x1.c900000000000p-2, -0x1.f128000000000p-2, -0x1.0be8000000000p-1,
    -0x1.1e86000000000p-1, -0x1.307e000000000p-1, -0x1.41d8000000000p-1,
    -0x1.52a2000000000p-1};

constexpr double log_sixteenths_low[] = {
    0x0.0p+0, -0x1.86008c0000000p-20, -0x1.db8abc0000000p-22,
    -0x1.83853c0000000p-18, 0x1.070cac0000000p-20, -0x1.cababa0000000p-18,
    -0x1.78438c0000000p-19, -0x1.7f6bbe0000000p-18, 0x1.c134060000000p-18,
    0x1.070cac0000000p-19, -0x1.ebf5e00000000p-19, 0x1.a37b5a0000000p-18,
    0x1.431f7e0000000p-22, 0x1.19961e0000000p-18, -0x1.fd08ce0000000p-18,
    -0x1.a4cb780000000p-18};

constexpr double log2_sixteenths[] = {
    0x0.0p+0, -0x1.6640000000000p-4, -0x1.5c00000000000p-3,
    -0x1.fbc0000000000p-3, -0x1.49a8000000000p-2, -0x1.91bc000000000p-2,
    -0x1.d674000000000p-2, -0x1.0c10000000000p-1, -0x1.2b80000000000p-1,
    -0x1.49a8000000000p-1, -0x1.66a0000000000p-1, -0x1.8280000000000p-1,
    -0x1.9d5e000000000p-1, -0x1.b74a000000000p-1, -0x1.d054000000000p-1,
    -0x1.e88c000000000p-1};

constexpr double log2_sixteenths_low[] = {
    0x0.0p+0, 0x1.20a6de0000000p-21, -0x1.a39fbe0000000p-19,
    -0x1.6b90260000000p-19, 0x1.ed0cba0000000p-20, 0x1.5db83a0000000p-20,
    -0x1.3e032e0000000p-18, -0x1.40358e0000000p-19, -0x1.a39fbe0000000p-20,
    0x1.ed0cba0000000p-19, -0x1.1c8f120000000p-22, -0x1.3ab7ce0000000p-18,
    0x1.80abfc0000000p-19, 0x1.6e155a0000000p-18, 0x1.25b3ee0000000p-22,
    -0x1.acd89a0000000p-19};

constexpr double log10_sixteenths[] = {
    0x0.0p+0, -0x1.af40000000000p-6, -0x1.a300000000000p-5,
    -0x1.31b0000000000p-4, -0x1.8cf0000000000p-4, -0x1.e3c0000000000p-4,
    -0x1.1b40000000000p-3, -0x1.42c8000000000p-3, -0x1.68a0000000000p-3,
    -0x1.8cf0000000000p-3, -0x1.afd0000000000p-3, -0x1.d168000000000p-3,
    -0x1.f1c0000000000p-3, -0x1.087c000000000p-2, -0x1.178c000000000p-2,
    -0x1.2624000000000p-2};

constexpr double log10_sixteenths_low[] = {
    0x0.0p+0, -0x1.f92b000000000p-18, -0x1.53ac140000000p-18,
    -0x1.82ae240000000p-19, -0x1.8388640000000p-20, 0x1.f2a7900000000p-19,
    0x1.8e136c0000000p-19, 0x1.801c040000000p-23, -0x1.445b060000000p-18,
    -0x1.8388640000000p-19, -0x1.f1d11e0000000p-18, 0x1.67f8e60000000p-18,
    0x1.08a4d60000000p-18, 0x1.f7cd060000000p-18, -0x1.a53d1e0000000p-18,
    0x1.4f11c40000000p-18};

}  // namespace binary32

namespace narrow_fits {

// error 6.83e-8 on [-0.350039, 0.350039]
constexpr double expm1_narrow[] = {
    0x1.0000000000000p-1, 0x1.5554d820ee8e6p-3, 0x1.555516c1f2f08p-5,
    0x1.12106ba17fc04p-7, 0x1.6d1605bc8521fp-10};

// error 1.16e-9 on [0, 0.0294667]
constexpr double atanh_narrow[] = {
    0x1.5555554ba8b0ep-1, 0x1.9999eb9d6ddfep-2, 0x1.245c273432202p-2,
    0x1.ddd4dad98e4c4p-3};

// error 7.31e-12 on [0, 0.0294667]
constexpr double atanh_middle[] = {
    0x1.5555555564fdap-1, 0x1.999998ca249fbp-2, 0x1.249324907dae3p-2,
    0x1.c67a84e8a4ba0p-3, 0x1.8c92867b49a01p-3};

// error 2.8e-11 on [0, 2.46987]
constexpr double sine_narrow[] = {
    -0x1.555555545f1aap-3, 0x1.11110fd9738c0p-7, -0x1.a01904fa690dap-13,
    0x1.71966d40f5096p-19, -0x1.9dad9aaf55915p-26};

// error 6.24e-10 on [0, 0.617467]
constexpr double tan_narrow[] = {
    0x1.5555554d4a2cdp-2, 0x1.11111e1164b92p-3, 0x1.ba14caa67a27fp-5,
    0x1.66fd1dbc2dcf4p-6, 0x1.1a10928aed20cp-7, 0x1.223e327b9c11cp-8,
    -0x1.28a30cdd754abp-18, 0x1.d59f541b6f656p-10};

// error 5.38e-10 on [0, 0.171744]
constexpr double atan_narrow[] = {
    -0x1.5555554bfd993p-2, 0x1.99997aefc3eb5p-3, -0x1.248a0f9e7dbe8p-3,
    0x1.c57a94756983fp-4, -0x1.613c1c599a50fp-4, 0x1.9d60fa5068fb4p-5};

// error 2.48e-10 on [0, 0.2501]
constexpr double asin_narrow[] = {
    0x1.5555555c06d99p-3, 0x1.33331ec1202bdp-4, 0x1.6dc0f61ccc6c3p-5,
    0x1.efed0c67f5d24p-6, 0x1.82e318947cfa5p-6, 0x1.5a41fba7de28bp-7,
    0x1.fbaa70c46e293p-6};

}  // namespace narrow_fits

}  // namespace math
}  // namespace jitwise
