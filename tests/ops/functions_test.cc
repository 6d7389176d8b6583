// Functions of floats and complex numbers: their values compared with those of XLA's CPU backend
// (jaxlib 0.10.2, jax.lax, in 64 bits), their edge cases, their errors.
#include <cstdint>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

using Unary = Tensor (*)(const Operand&);

const std::vector<double> kAny{-3.5, -1, -0.75, -0.1, 1e-4, 0.3, 0.5, 1, 2, 5.5};
const std::vector<double> kPositive{1e-4, 0.1, 0.3, 0.5, 1, 1.5, 2, 5.5, 100, 1e10};
const std::vector<double> kUnit{-1, -0.9, -0.5, -0.1, -1e-4, 1e-4, 0.3, 0.5, 0.99, 1};
const std::vector<double> kOverOne{1, 1.0001, 1.25, 1.5, 2, 3, 10, 100, 1e5, 1e10};
const std::vector<double> kInside{-0.99, -0.9, -0.5, -0.1, -1e-4, 1e-4, 0.3, 0.5, 0.75, 0.99};

struct RealRow {
  const char* name;
  Unary function;
  std::vector<double> at;
  std::vector<double> want;
};

// clang-format off
const std::vector<RealRow> kRealRows{
    {"exp", exp, kAny, {0.0301973834223185, 0.3678794411714423, 0.4723665527410147, 0.9048374180359595, 1.0001000050001667, 1.3498588075760032, 1.6487212707001282, 2.7182818284590455, 7.38905609893065, 244.69193226422038}},
    {"expm1", expm1, kAny, {-0.9698026165776815, -0.6321205588285577, -0.5276334472589853, -0.09516258196404041, 0.00010000500016667084, 0.34985880757600313, 0.6487212707001281, 1.7182818284590455, 6.38905609893065, 243.69193226422038}},
    {"log", log, kPositive, {-9.210340371976182, -2.3025850929940455, -1.2039728043259361, -0.6931471805599453, 0.0, 0.4054651081081644, 0.6931471805599453, 1.7047480922384253, 4.605170185988092, 23.025850929940457}},
    {"log1p", log1p, kInside, {-4.605170185988091, -2.302585092994046, -0.6931471805599453, -0.10536051565782631, -0.00010000500033335834, 9.999500033330834e-05, 0.26236426446749106, 0.4054651081081644, 0.5596157879354227, 0.688134638736401}},
    {"sqrt", sqrt, kPositive, {0.01, 0.31622776601683794, 0.5477225575051661, 0.7071067811865476, 1.0, 1.224744871391589, 1.4142135623730951, 2.345207879911715, 10.0, 100000.0}},
    {"rsqrt", rsqrt, kPositive, {100.0, 3.162277660168379, 1.8257418583505538, 1.414213562373095, 1.0, 0.816496580927726, 0.7071067811865475, 0.4264014327112209, 0.09999999999999999, 1e-05}},
    {"cbrt", cbrt, kAny, {-1.5182944859378316, -1.0, -0.9085602964160697, -0.46415888336127786, 0.04641588833612778, 0.6694329500821694, 0.7937005259840998, 1.0, 1.2599210498948734, 1.7651741676630317}},
    {"logistic", logistic, kAny, {0.02931223075135632, 0.2689414213699951, 0.320821300824607, 0.47502081252106, 0.5000249999999792, 0.574442516811659, 0.6224593312018546, 0.7310585786300049, 0.8807970779778823, 0.995929862284104}},
    {"erf", erf, kAny, {-0.9999992569016276, -0.8427007929497149, -0.7111556336535151, -0.1124629160182849, 0.00011283791633342487, 0.3286267594591274, 0.5204998778130465, 0.8427007929497149, 0.9953222650189527, 0.9999999999999927}},
    {"erfc", erfc, kAny, {1.9999992569016276, 1.8427007929497148, 1.7111556336535152, 1.1124629160182848, 0.9998871620836666, 0.6713732405408726, 0.4795001221869535, 0.15729920705028513, 0.004677734981047267, 7.357847917974397e-15}},
    {"sin", sin, kAny, {0.35078322768961984, -0.8414709848078965, -0.6816387600233341, -0.09983341664682815, 9.999999983333334e-05, 0.29552020666133955, 0.479425538604203, 0.8414709848078965, 0.9092974268256817, -0.7055403255703919}},
    {"cos", cos, kAny, {-0.9364566872907963, 0.5403023058681398, 0.7316888688738209, 0.9950041652780258, 0.999999995, 0.955336489125606, 0.8775825618903728, 0.5403023058681398, -0.4161468365471424, 0.70866977429126}},
    {"tan", tan, kAny, {-0.3745856401585947, -1.5574077246549023, -0.9315964599440725, -0.10033467208545055, 0.00010000000033333334, 0.30933624960962325, 0.5463024898437905, 1.5574077246549023, -2.185039863261519, -0.995584052213885}},
    {"sinh", sinh, kAny, {-16.542627287634996, -1.1752011936438016, -0.82231673193583, -0.10016675001984401, 0.00010000000016666667, 0.3045202934471426, 0.5210953054937473, 1.1752011936438016, 3.6268604078470186, 122.34392274639094}},
    {"cosh", cosh, kAny, {16.572824671057315, 1.543080634815244, 1.2946832846768448, 1.0050041680558037, 1.000000005, 1.0453385141288605, 1.1276259652063807, 1.543080634815244, 3.762195691083631, 122.34800951782941}},
    {"tanh", tanh, kAny, {-0.9981778976111988, -0.7615941559557649, -0.6351489523872874, -0.09966799462495583, 9.999999966666667e-05, 0.29131261245159085, 0.4621171572600098, 0.7615941559557649, 0.9640275800758169, 0.9999665971563039}},
    {"asin", asin, kUnit, {-1.5707963267948966, -1.1197695149986342, -0.5235987755982989, -0.10016742116155981, -0.00010000000016666667, 0.00010000000016666667, 0.30469265401539747, 0.5235987755982989, 1.4292568534704693, 1.5707963267948966}},
    {"acos", acos, kUnit, {3.141592653589793, 2.6905658417935308, 2.0943951023931957, 1.6709637479564565, 1.5708963267950633, 1.57069632679473, 1.2661036727794992, 1.0471975511965976, 0.1415394733244273, 0.0}},
    {"atan", atan, kAny, {-1.2924966677897851, -0.7853981633974484, -0.6435011087932845, -0.09966865249116202, 9.999999966666668e-05, 0.2914567944778671, 0.4636476090008061, 0.7853981633974484, 1.1071487177940904, 1.3909428270024182}},
    {"asinh", asinh, kAny, {-1.9657204716496515, -0.8813735870195429, -0.6931471805599453, -0.09983407889920758, 9.999999983333334e-05, 0.29567304756342244, 0.48121182505960347, 0.8813735870195429, 1.4436354751788103, 2.4060591252980172}},
    {"acosh", acosh, kOverOne, {0.0, 0.014142017775251542, 0.6931471805599453, 0.9624236501192069, 1.3169578969248166, 1.762747174039086, 2.993222846126381, 5.298292365610485, 12.206072645505174, 23.7189981105004}},
    {"atanh", atanh, kInside, {-2.646652412362246, -1.4722194895832204, -0.5493061443340548, -0.10033534773107558, -0.00010000000033333334, 0.00010000000033333334, 0.30951960420311175, 0.5493061443340548, 0.9729550745276566, 2.646652412362246}},
    {"square", square, kAny, {12.25, 1.0, 0.5625, 0.010000000000000002, 1e-08, 0.09, 0.25, 1.0, 4.0, 30.25}},
    {"reciprocal", reciprocal, kAny, {-0.2857142857142857, -1.0, -1.3333333333333333, -10.0, 10000.0, 3.3333333333333335, 2.0, 1.0, 0.5, 0.18181818181818182}},
};

using ComplexNumbers = std::vector<std::complex<double>>;
const ComplexNumbers kPoints{{0.5, 0.25}, {-1.5, 2}, {3, -4}, {0.1, -0.2}, {-0.3, -0.7}, {2, 1e-3}};

struct ComplexRow {
  const char* name;
  Unary function;
  ComplexNumbers want;
};

const std::vector<ComplexRow> kComplexRows{
    {"exp", exp, {{1.5974665191199127, 0.4079001700783598}, {-0.09285491028402633, 0.2028916804701695}, {-13.128783081462158, 15.200784463067954}, {1.0831410796080632, -0.21956356670825236}, {0.566609028286408, -0.4772482007911177}, {7.389052404402909, 0.007389054867421362}}},
    {"expm1", expm1, {{0.5974665191199126, 0.4079001700783598}, {-1.0928549102840264, 0.20289168047016948}, {-14.128783081462156, 15.200784463067954}, {0.08314107960806318, -0.21956356670825236}, {-0.43339097171359203, -0.4772482007911177}, {6.389052404402909, 0.007389054867421362}}},
    {"log", log, {{-0.5815754049028404, 0.4636476090008061}, {0.9162907318741551, 2.214297435588181}, {1.6094379124341003, -0.9272952180016122}, {-1.4978661367769954, -1.1071487177940904}, {-0.2723635877208361, -1.9756881130799802}, {0.6931473055599296, 0.0004999999583333395}}},
    {"log1p", log1p, {{0.4191645952022216, 0.16514867741462683}, {0.7234594914681627, 1.8157749899217608}, {1.7328679513998633, -0.7853981633974483}, {0.11157177565710488, -0.17985349979247828}, {-0.010101353658759747, -0.7853981633974483}, {1.0986123442236622, 0.00033333332098765513}}},
    {"sqrt", sqrt, {{0.7276733451126774, 0.17178037486125622}, {0.7071067811865475, 1.4142135623730951}, {2.0, -1.0}, {0.40224793209535525, -0.2486028939392892}, {0.4804046786753803, -0.7285524382590421}, {1.4142136065672655, 0.0003535533795447315}}},
    {"rsqrt", rsqrt, {{1.3017016520692888, -0.30729007631213195}, {0.282842712474619, -0.5656854249492379}, {0.39999999999999997, 0.19999999999999998}, {1.7989074399478673, 1.1117859405028423}, {0.6308022468598541, 0.9566362181904808}, {0.7071067148952987, -0.00017677666767528362}}},
    {"logistic", logistic, {{0.6242751644199613, 0.05900296431450803}, {-0.04984258297024425, 0.234807340416369}, {1.0320721995882685, 0.04019550765508409}, {0.5252300201962271, -0.050040869124108565}, {0.41588676942324593, -0.17794292214437488}, {0.8807971179591338, 0.00010499357892822788}}},
    {"sin", sin, {{0.494485780933195, 0.22168816414957482}, {-3.752771340479298, 0.2565539560904818}, {3.853738037919377, 27.016813258003932}, {0.10183674942129743, -0.20033016114881574}, {-0.37092780393896435, -0.7247026904232855}, {0.9092978814744329, -0.0004161469059049519}}},
    {"cos", cos, {{0.9051501505596068, -0.12110879604381165}, {0.26612719531354573, 3.6177750739401375}, {-27.034945603074224, 3.851153334811777}, {1.0149706707026225, 0.02010006102769189}, {1.199108751098743, -0.22417681233754294}, {-0.416147044620578, -0.0009092975783752603}}},
    {"tan", tan, {{0.504500702698564, 0.31242069250258875}, {-0.0053620609220030565, 1.036920282100185}, {-0.00018734620462947842, -0.9993559873814732}, {0.09638813085645423, -0.19928415105961042}, {-0.18971709151908692, -0.6398359302631801}, {-2.185027246037723, 0.005774369710115183}}},
    {"sinh", sinh, {{0.5048957143879951, 0.27897912835026156}, {0.8860929093625316, 2.139040009980677}, {-6.548120040911002, 7.61923172032141}, {0.09817008390542764, -0.19966350551389375}, {-0.2329099673126268, -0.6734255599525789}, {3.626858594416966, 0.0037621950640510473}}},
    {"cosh", cosh, {{1.0925708047319176, 0.12892104172809826}, {-0.978947819646558, -1.9361483295105073}, {-6.580663040551157, 7.581552742746545}, {0.9849709957026356, -0.01990006119435861}, {0.7995189955990348, 0.19617735916146126}, {3.762193809985942, 0.003626859803370314}}},
    {"tanh", tanh, {{0.4854872810241354, 0.19805544995134955}, {-1.0641443991765371, -0.08039101531016818}, {1.000709536067233, -0.00490825806749606}, {0.10372115002750575, -0.20061448422675457}, {-0.46970516596755807, -0.7270371862435201}, {0.9640276481851426, 7.06507827441584e-05}}},
    {"asin", asin, {{0.5016088532755009, 0.2813960562452928}, {-0.6065115181997547, 1.6224941488715938}, {0.6339838656391767, -2.305509031243477}, {0.09819751113349835, -0.19963938538953316}, {-0.2457320061010797, -0.6703367429877897}, {1.570218976621932, 1.3169580893748478}}},
    {"acos", acos, {{1.0691874735193958, -0.2813960562452928}, {2.1773078449946515, -1.6224941488715938}, {0.9368124611557199, 2.305509031243477}, {1.4725988156613983, 0.19963938538953316}, {1.8165283328959763, 0.6703367429877897}, {0.0005773501729646213, -1.3169580893748478}}},
    {"atan", atan, {{0.4842544903299662, 0.20058661813123432}, {-1.311223269671635, 0.3104282830771958}, {1.4483069952314644, -0.15899719167999918}, {0.10374811321760133, -0.20058661813123432}, {-0.480035181202844, -0.7016804321523099}, {1.1071487977940808, 0.00019999997066666927}}},
    {"asinh", asinh, {{0.4926756834207705, 0.2243284526346675}, {-1.6004100552346139, 0.887765146183905}, {2.2999140408792695, -0.9176168533514786}, {0.10186391598012426, -0.2003035710993003}, {-0.38559098731817487, -0.7089034409655052}, {1.4436355646215249, 0.00044721357462999085}}},
    {"acosh", acosh, {{0.2813960562452928, 1.0691874735193958}, {1.6224941488715938, 2.1773078449946515}, {2.305509031243477, -0.9368124611557199}, {0.19963938538953316, -1.4725988156613983}, {0.6703367429877897, -1.8165283328959763}, {1.3169580893748478, 0.0005773501729646213}}},
    {"atanh", atanh, {{0.5003700000525311, 0.3143981432077165}, {-0.22008968066202297, 1.2452579660726568}, {0.11750090731143391, -1.4099210495965755}, {0.09641562020299618, -0.19926122283321013}, {-0.19988189602962927, -0.6396697661585148}, {0.5493059221119561, 1.570462993622057}}},
};
// clang-format on

TEST(Functions, OfF64AreThoseOfXla) {
  for (const RealRow& row : kRealRows) {
    SCOPED_TRACE(row.name);
    expect_close<double>(row.function(vec(row.at)), {static_cast<std::int64_t>(row.at.size())},
                         row.want, 1e-14);
  }
}

/// The values in a narrower dtype are those of f64, rounded: within `rtol` of them.
template <class T>
void expect_rounded(double rtol) {
  for (const RealRow& row : kRealRows) {
    SCOPED_TRACE(row.name);
    const Tensor x = vec_of<T>(row.at);
    const Tensor got = row.function(x);
    ASSERT_EQ(got.dtype(), dtype_of<T>);
    const Literal want = row.function(convert(x, DType::kF64)).eval();
    const auto data = want.data<double>();
    std::vector<double> rounded(data.begin(), data.end());
    for (double& value : rounded)
      value = static_cast<double>(static_cast<T>(value));  // to infinity, to 0
    const double atol = static_cast<double>(T::from_bits(1));
    expect_close<double>(convert(got, DType::kF64), want.shape(), rounded, rtol, atol);
  }
}

TEST(Functions, OfF16AreThoseOfF64Rounded) { expect_rounded<float16>(0x1p-10); }
TEST(Functions, OfBf16AreThoseOfF64Rounded) { expect_rounded<bfloat16>(0x1p-7); }

TEST(Functions, OfF32AreWithinAFewUnits) {
  for (const RealRow& row : kRealRows) {
    SCOPED_TRACE(row.name);
    const Tensor x = vec_of<float>(row.at);
    ASSERT_EQ(row.function(x).dtype(), DType::kF32);
    const Literal want = row.function(convert(x, DType::kF64)).eval();
    const auto data = want.data<double>();
    expect_close<double>(convert(row.function(x), DType::kF64), want.shape(),
                         {data.begin(), data.end()}, 3e-7);
  }
}

// As jax.lax gives them in these dtypes.
TEST(Functions, OfHalvesAsXlaRoundsThem) {
  const auto expect_halves = [](Unary function, DType dtype, const std::vector<float>& want,
                                double rtol) {
    const Tensor x = convert(vec<float>({0.1f, 0.5f, 1.5f, 3.0f}), dtype);
    expect_close<float>(convert(function(x), DType::kF32), {4}, want, rtol);
  };
  expect_halves(exp, DType::kF16, {1.1054688f, 1.6484375f, 4.4804688f, 20.078125f}, 1e-3);
  expect_halves(log, DType::kF16, {-2.3027344f, -0.6933594f, 0.40551758f, 1.0986328f}, 1e-3);
  expect_halves(erfc, DType::kF16, {0.88769531f, 0.47949219f, 0.033905029f, 2.2113323e-05f}, 3e-3);
  expect_halves(exp, DType::kBF16, {1.1015625f, 1.6484375f, 4.46875f, 20.125f}, 8e-3);
  expect_halves(rsqrt, DType::kBF16, {3.15625f, 1.4140625f, 0.81640625f, 0.578125f}, 8e-3);
  expect_halves(tanh, DType::kBF16, {0.099609375f, 0.46289062f, 0.90625f, 0.99609375f}, 8e-3);
}

TEST(Functions, OfC128AreThoseOfXla) {
  for (const ComplexRow& row : kComplexRows) {
    SCOPED_TRACE(row.name);
    expect_complex<double>(row.function(vec(kPoints)), row.want, 2e-12);
  }
}

TEST(Functions, OfC64AreWithinAFewUnits) {
  for (const ComplexRow& row : kComplexRows) {
    SCOPED_TRACE(row.name);
    const Tensor z = convert(vec(kPoints), DType::kC64);
    ASSERT_EQ(row.function(z).dtype(), DType::kC64);
    const Literal got = convert(row.function(z), DType::kC128).eval();
    const Literal want = row.function(convert(z, DType::kC128)).eval();
    for (std::size_t i = 0; i < kPoints.size(); i++) {
      const std::complex<double> x = got.data<std::complex<double>>()[i],
                                 y = want.data<std::complex<double>>()[i];
      EXPECT_LE(std::abs(x - y), 1e-6 * std::abs(y)) << x << ", expected " << y;
    }
  }
}

TEST(Functions, OfTwoFloatsAreThoseOfXla) {
  const Tensor a = vec<double>({2, 0.5, -2, 10, 1.5, 3, -0.3, 7.25}),
               b = vec<double>({0.5, -3, 3, -2.5, 10, 0.1, 2, -1.25});
  expect_close<double>(pow(a, b), {8},
                       {1.4142135623730951, 8.0, -8.0, 0.0031622776601683794, 57.6650390625,
                        1.1161231740339044, 0.09, 0.08405769790736552},
                       1e-15);
  expect_close<double>(
      atan2(a, b), {8},
      {1.3258176636680326, 2.976443976175166, -0.5880026035475675, 1.8157749899217608,
       0.14888994760949725, 1.5374753309166493, -0.14888994760949725, 1.7415315382701795},
      1e-15);
  expect_close<double>(
      hypot(a, b), {8},
      {2.0615528128088303, 3.0413812651491092, 3.6055512754639896, 10.307764064044152,
       10.111874208078342, 3.0016662039607267, 2.0223748416156684, 7.356969484781081},
      1e-15);
  expect_close<double>(rem(a, b), {8}, {0.0, 0.5, -2.0, 0.0, 1.5, 0.09999999999999984, -0.3, 1.0},
                       1e-15);
}

TEST(Functions, PowersOfComplexNumbersAreThoseOfXla) {
  const Tensor w =
      vec<std::complex<double>>({{2, 0}, {0.5, -0.5}, {-1, 1}, {0.3, 0}, {0, 1}, {-2, -1}});
  const ComplexNumbers want{{0.1875, 0.25},
                            {3.8114135568777145, 2.891463976723497},
                            {-0.41584203475119264, 0.2874693744033243},
                            {0.6031647235335172, -0.20804530233014173},
                            {6.945745337209797, -1.9399774641080139},
                            {0.19224591980314823, -0.16001251917582365}};
  expect_complex<double>(pow(vec(kPoints), w), want, 1e-14);
  std::vector<std::complex<float>> rounded;
  for (const auto& z : want)
    rounded.emplace_back(static_cast<float>(z.real()), static_cast<float>(z.imag()));
  expect_complex<float>(pow(convert(vec(kPoints), DType::kC64), convert(w, DType::kC64)), rounded,
                        1e-6);
}

/// Values within a few units in the last place; zeros with their signs.
void expect_edges(const Tensor& got, const std::vector<float>& want) {
  expect_close<float>(got, {static_cast<std::int64_t>(want.size())}, want, 3e-7);
  const Literal value = got.eval();
  for (std::size_t i = 0; i < want.size(); i++) {
    if (want[i] == 0) {
      EXPECT_EQ(std::signbit(value.data<float>()[i]), std::signbit(want[i])) << "element " << i;
    }
  }
}

TEST(Functions, CubeRootsAreWithinAnUlp) {
  std::vector<double> x = {49.509, 5e-324, -1e-310, 1.7e308};
  for (double at = 1e-300; at < 1e300; at *= 1.37) x.push_back(x.size() % 2 ? at : -at);
  const Tensor got = cbrt(constant(x));
  const Literal roots = got.eval();
  for (std::size_t i = 0; i < x.size(); i++) {
    const long double want = std::cbrt(static_cast<long double>(x[i]));
    const double near = std::abs(static_cast<double>(want));
    const double ulp = std::nextafter(near, 1e308) - near;
    EXPECT_LE(std::abs(static_cast<long double>(roots.data<double>()[i]) - want), ulp) << x[i];
  }
}

TEST(Functions, CubeRootsOfComplexNumbersArePrincipal) {
  using C = std::complex<double>;
  const std::vector<C> z{{3, 4}, {-8, 0}, {0, -1}, {0, 0}, {1e200, -1e200}};
  const Literal roots = cbrt(constant(z)).eval();
  for (std::size_t i = 0; i < z.size(); i++) {
    const C want = z[i] == C(0) ? C(0) : std::exp(std::log(z[i]) / 3.0);
    EXPECT_LE(std::abs(roots.data<C>()[i] - want), 1e-13 * std::abs(want)) << z[i];
  }
}

TEST(FunctionEdges, OfFloats) {
  const float pi = 3.14159265f;
  const Tensor x = vec<float>({0, -0.0f, 1, -1, kNan, kInf, -kInf});
  expect_edges(sqrt(x), {0, -0.0f, 1, kNan, kNan, kInf, kNan});
  expect_edges(rsqrt(x), {kInf, -kInf, 1, kNan, kNan, 0, kNan});
  expect_edges(log(x), {-kInf, -kInf, 0, kNan, kNan, kInf, kNan});
  expect_edges(cbrt(x), {0, -0.0f, 1, -1, kNan, kInf, -kInf});
  expect_edges(exp(x), {1, 1, std::exp(1.0f), std::exp(-1.0f), kNan, kInf, 0});
  expect_edges(expm1(x), {0, -0.0f, std::expm1(1.0f), std::expm1(-1.0f), kNan, kInf, -1});
  expect_edges(log1p(x), {0, -0.0f, std::log1p(1.0f), -kInf, kNan, kInf, kNan});
  expect_edges(logistic(x), {0.5f, 0.5f, 0.7310586f, 0.26894143f, kNan, 1, 0});
  expect_edges(erf(x), {0, -0.0f, 0.84270084f, -0.84270084f, kNan, 1, -1});
  expect_edges(erfc(x), {1, 1, 0.15729924f, 1.8427007f, kNan, 0, 2});
  expect_edges(sin(x), {0, -0.0f, std::sin(1.0f), std::sin(-1.0f), kNan, kNan, kNan});
  expect_edges(cos(x), {1, 1, std::cos(1.0f), std::cos(1.0f), kNan, kNan, kNan});
  expect_edges(tan(x), {0, -0.0f, std::tan(1.0f), -std::tan(1.0f), kNan, kNan, kNan});
  expect_edges(sinh(x), {0, -0.0f, std::sinh(1.0f), -std::sinh(1.0f), kNan, kInf, -kInf});
  expect_edges(cosh(x), {1, 1, std::cosh(1.0f), std::cosh(1.0f), kNan, kInf, kInf});
  expect_edges(tanh(x), {0, -0.0f, std::tanh(1.0f), -std::tanh(1.0f), kNan, 1, -1});
  expect_edges(asin(x), {0, -0.0f, pi / 2, -pi / 2, kNan, kNan, kNan});
  expect_edges(acos(x), {pi / 2, pi / 2, 0, pi, kNan, kNan, kNan});
  expect_edges(atan(x), {0, -0.0f, pi / 4, -pi / 4, kNan, pi / 2, -pi / 2});
  expect_edges(asinh(x), {0, -0.0f, 0.88137364f, -0.88137364f, kNan, kInf, -kInf});
  expect_edges(acosh(x), {kNan, kNan, 0, kNan, kNan, kInf, kNan});
  expect_edges(atanh(x), {0, -0.0f, kInf, -kInf, kNan, kNan, kNan});
  expect_close<float>(logistic(vec<float>({-100, 100, -88})), {3}, {3.783506e-44f, 1, 6.0546e-39f},
                      1e-3);
}

TEST(FunctionEdges, OfTwoFloats) {
  const float pi = 3.14159265f;
  const Tensor x = vec<float>({kNan, 1, 0, 0, -8, -0.0f, -0.0f, 0, -1, -1, 2, 0.5f, kInf, kInf});
  const Tensor y =
      vec<float>({0, kNan, 0, kNan, 1.0f / 3, -1, -2, -1, kInf, -kInf, kInf, kInf, 0, -1});
  expect_edges(pow(x, y), {1, 1, 1, kNan, kNan, -kInf, kInf, kInf, 1, 1, kInf, 0, 1, 0});
  expect_close<float>(atan2(vec<float>({0, 0, -0.0f, -0.0f, 1, -1, kInf, kInf, 1}),
                            vec<float>({0, -0.0f, 0, -0.0f, 0, 0, kInf, -kInf, kNan})),
                      {9}, {0, pi, 0, -pi, pi / 2, -pi / 2, pi / 4, 3 * pi / 4, kNan});
  expect_vec<float>(hypot(vec<float>({3e38f, kInf, kNan, kNan, 0, 3}),
                          vec<float>({0, kNan, -kInf, 1, -0.0f, -4})),
                    {3e38f, kInf, kInf, kNan, 0, 5});
}

TEST(FunctionEdges, OfComplexNumbers) {
  using C = std::complex<float>;
  const float pi = 3.14159265f;
  // As in XLA, the sign of a zero does not decide on which side of these cuts a number is ...
  const Tensor z = vec<C>({{-1, 0}, {-1, -0.0f}, {2, 0}, {2, -0.0f}, {-2, -0.0f}});
  const float r = 1.31695790f, s = 1.41421356f;
  expect_complex<float>(sqrt(z), {{0, 1}, {0, 1}, {s, 0}, {s, 0}, {0, s}}, 1e-6);
  expect_complex<float>(asin(z),
                        {{-pi / 2, 0}, {-pi / 2, 0}, {pi / 2, r}, {pi / 2, r}, {-pi / 2, r}}, 1e-6);
  expect_complex<float>(acos(z), {{pi, 0}, {pi, 0}, {0, -r}, {0, -r}, {pi, -r}}, 1e-6);
  expect_complex<float>(acosh(z), {{0, pi}, {0, pi}, {r, 0}, {r, 0}, {r, pi}}, 1e-6);
  expect_complex<float>(asinh(vec<C>({{0, 2}, {-0.0f, 2}, {0, -2}, {-0.0f, -2}})),
                        {{r, pi / 2}, {r, pi / 2}, {r, -pi / 2}, {r, -pi / 2}}, 1e-6);
  // ... but it does for these.
  expect_complex<float>(
      log(z), {{0, pi}, {0, -pi}, {0.693147181f, 0}, {0.693147181f, 0}, {0.693147181f, -pi}}, 1e-6);
  expect_complex<float>(atanh(vec<C>({{2, 0}, {2, -0.0f}, {1, 0}})),
                        {{0.549306144f, pi / 2}, {0.549306144f, -pi / 2}, {kInf, 0}}, 1e-6);
  expect_complex<float>(atan(vec<C>({{0, 2}, {-0.0f, 2}})),
                        {{pi / 2, 0.549306144f}, {-pi / 2, 0.549306144f}}, 1e-6);
  // 0 and 1 to powers.
  expect_complex<float>(pow(vec<C>({{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 0}, {kNan, 0}, {kInf, 0}}),
                            vec<C>({{0, 0}, {0, 1}, {2, 0}, {-1, 0}, {kNan, 0}, {0, 0}, {0, 0}})),
                        {{1, 0}, {kNan, kNan}, {0, 0}, {kNan, kNan}, {1, 0}, {1, 0}, {1, 0}});
  // Near -1, where |1 + z|^2 - 1 cancels.
  expect_complex<float>(log1p(vec<C>({{-1, 1e-8f}, {-0.99999994f, 1e-8f}})),
                        {{-18.420681f, pi / 2}, {-16.621653f, 0.16622410f}}, 1e-6);
  // Near |1 + z| = 1 and for large z.
  expect_complex<float>(log1p(vec<C>({{-2, 1e-4f}, {1e-10f, 1e-10f}, {1e30f, 1e30f}, {-1, 0}})),
                        {{5e-9f, 3.14149265f}, {1e-10f, 1e-10f}, {69.4241257f, pi / 4}, {-kInf, 0}},
                        1e-6);
  expect_complex<float>(expm1(vec<C>({{1e-10f, 1e-10f}, {kInf, 0}, {-kInf, 0}})),
                        {{1e-10f, 1e-10f}, {kInf, 0}, {-1, 0}}, 1e-6);
  expect_complex<float>(logistic(vec<C>({{200, 1}, {-200, 1}, {0, 0}})),
                        {{1, 0}, {0, 0}, {0.5f, 0}}, 1e-6);
}

TEST(FunctionErrors, OfIntegersAndPreds) {
  const std::vector<RealRow>& rows = kRealRows;
  for (const RealRow& row : rows) {
    if (row.function == static_cast<Unary>(square)) continue;  // takes them
    SCOPED_TRACE(row.name);
    const std::string name = row.name;
    expect_error(
        [&] {
          row.function(vec<int>({1, 2}));
        },
        {name + ": takes floats", "the operand is s32[2]",
         "Convert it to a float first: rondo::convert(x, DType::kF32)"});
    expect_error([&] { row.function(vec<std::uint8_t>({1})); },
                 {name + ": takes floats", "u8[1]", "DType::kF32"});
    expect_error([&] { row.function(vec<bool>({true})); },
                 {name + ": takes floats", "pred[1]", "DType::kF32"});
    expect_error([&] { row.function(Tensor()); }, {"an operand is an empty Tensor"});
  }
  expect_error([] { atan2(vec<int>({1}), 1); },
               {"atan2: takes floats; the operand is s32[1]", "DType::kF32"});
  expect_error([] { hypot(vec<int>({1}), 1); },
               {"hypot: takes floats; the operand is s32[1]", "DType::kF32"});
  const Tensor z = vec<std::complex<float>>({{1, 2}});
  for (Unary function : {erf, erfc}) {
    expect_error([&] { function(z); }, {": takes floats; the operand is c64[1]", "rondo::real(x)"});
  }
}

}  // namespace
}  // namespace rondo
