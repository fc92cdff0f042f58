#include "tensor/dim_table.h"

#include <string.h>

#include "base/hash.h"

static const struct pw_dim_range everything = {INT64_MIN, INT64_MAX};

/* ---- ranges ---- */

static int64_t clamp(__int128 x)
{
    return x <= INT64_MIN ? INT64_MIN : x >= INT64_MAX ? INT64_MAX : (int64_t)x;
}

/* A product of bounds; an infinity times 0 is 0 here: the zero is attained, the infinity is not. */
static int64_t bound_multiply(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return 0;
    if (a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX)
        return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    return clamp((__int128)a * b);
}

static struct pw_dim_range range_multiply(struct pw_dim_range x, struct pw_dim_range y)
{
    int64_t corners[4] = {bound_multiply(x.low, y.low), bound_multiply(x.low, y.high), bound_multiply(x.high, y.low),
                          bound_multiply(x.high, y.high)};
    struct pw_dim_range out = {corners[0], corners[0]};

    for (int i = 1; i < 4; i++) {
        out.low = corners[i] < out.low ? corners[i] : out.low;
        out.high = corners[i] > out.high ? corners[i] : out.high;
    }
    return out;
}

static struct pw_dim_range range_add(struct pw_dim_range x, struct pw_dim_range y)
{
    struct pw_dim_range out = everything;

    if (x.low != INT64_MIN && y.low != INT64_MIN)
        out.low = clamp((__int128)x.low + y.low);
    if (x.high != INT64_MAX && y.high != INT64_MAX)
        out.high = clamp((__int128)x.high + y.high);
    return out;
}

struct pw_dim_range pw_dim_range(const struct pw_dims *dims, pw_dim dim)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);
    struct pw_dim_range out = {0, 0};

    if (dim < 0 && poly == NULL)
        return everything;
    if (poly == NULL)
        return (struct pw_dim_range){dim, dim};
    for (uint32_t i = 0; i < poly->count; i++) {
        struct pw_dim_range c = {poly->terms[i].coefficient, poly->terms[i].coefficient};

        out = range_add(out, range_multiply(c, dims->monomials[poly->terms[i].monomial].range));
    }
    return out;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t q;

    if (a == INT64_MIN || a == INT64_MAX)
        return a;
    q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static struct pw_dim_range atom_range(const struct pw_dims *dims, pw_dim_kind kind, pw_dim a, pw_dim b)
{
    struct pw_dim_range x = pw_dim_range(dims, a), y = pw_dim_range(dims, b), out = everything;

    switch (kind) {
    case PW_DIM_FLOORDIV:
        if (b > 0)
            out = (struct pw_dim_range){floor_divide(x.low, b), floor_divide(x.high, b)};
        else if (x.low >= 0 && y.low >= 0)
            out = (struct pw_dim_range){0, x.high};
        break;
    case PW_DIM_MOD:
        if (y.low >= 0)
            out = (struct pw_dim_range){0, y.high == INT64_MAX || y.high == 0 ? y.high : y.high - 1};
        break;
    case PW_DIM_MIN:
        out.low = x.low < y.low ? x.low : y.low;
        out.high = x.high < y.high ? x.high : y.high;
        break;
    case PW_DIM_MAX:
        out.low = x.low > y.low ? x.low : y.low;
        out.high = x.high > y.high ? x.high : y.high;
        break;
    default:
        break;
    }
    return out;
}

/* ---- the index ---- */

typedef bool equal_fn(const struct pw_dims *dims, const void *key, uint32_t item);

/* The item equal to key, or UINT32_MAX with *slot = where it belongs. */
static uint32_t index_find(const struct pw_dims *dims, const struct pw_dim_index *index, uint64_t hash, const void *key,
                           equal_fn *equal, size_t *slot)
{
    size_t mask = index->slot_count - 1, at = (size_t)hash & mask;

    if (index->slot_count == 0)
        return UINT32_MAX;
    while (index->slots[at] != 0) {
        uint32_t item = index->slots[at] - 1;

        if (index->hashes[item] == hash && equal(dims, key, item))
            return item;
        at = (at + 1) & mask;
    }
    *slot = at;
    return UINT32_MAX;
}

/* Makes room for one more item, number `count`; its slot is searched for afterwards. */
static bool index_reserve(struct pw_dim_index *index, size_t count)
{
    size_t slot_count = index->slot_count == 0 ? 64 : index->slot_count * 2;
    uint32_t *slots = NULL;

    if (count >= PW_DIM_MAX_ITEMS || PW_GROW(index->hashes, index->hash_cap, count + 1, NULL) != PW_OK)
        return false;
    if ((count + 1) * 2 <= index->slot_count)
        return true;
    slots = pw_calloc(slot_count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t item = 0; item < count; item++) {
        size_t at = (size_t)index->hashes[item] & (slot_count - 1);

        while (slots[at] != 0)
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)item + 1;
    }
    pw_free(index->slots);
    index->slots = slots;
    index->slot_count = slot_count;
    return true;
}

/* ---- borrowed tables ---- */

/* False when memory is short; *items stays the lender's then. */
static bool copy_items(void **items, size_t count, size_t item_bytes, size_t *cap)
{
    size_t want = count + count / 8 + 8;
    void *copy = pw_calloc(want, item_bytes);

    if (copy == NULL)
        return false;
    if (count > 0)
        memcpy(copy, *items, count * item_bytes);
    *items = copy;
    *cap = want;
    return true;
}

static bool copy_index(struct pw_dim_index *index, size_t count)
{
    void *hashes = index->hashes, *slots = index->slots;
    size_t hash_cap, slot_cap;

    if (!copy_items(&hashes, count, sizeof *index->hashes, &hash_cap))
        return false;
    if (!copy_items(&slots, index->slot_count, sizeof *index->slots, &slot_cap)) {
        pw_free(hashes);
        return false;
    }
    *index = (struct pw_dim_index){slots, index->slot_count, hashes, hash_cap};
    return true;
}

static void free_tables(struct pw_dims *dims)
{
    pw_free(dims->atoms);
    pw_free(dims->monomials);
    pw_free(dims->polys);
    pw_free(dims->atom_index.slots);
    pw_free(dims->atom_index.hashes);
    pw_free(dims->monomial_index.slots);
    pw_free(dims->monomial_index.hashes);
    pw_free(dims->poly_index.slots);
    pw_free(dims->poly_index.hashes);
}

/* Before anything is added; what items point to stays the lender's, who does not change it. */
static bool own_tables(struct pw_dims *dims)
{
    struct pw_dims own = {.atoms = NULL};
    void *atoms = dims->atoms, *monomials = dims->monomials, *polys = dims->polys;

    if (!dims->borrowed)
        return true;
    if (copy_items(&atoms, dims->atom_count, sizeof *dims->atoms, &own.atom_cap))
        own.atoms = atoms;
    if (copy_items(&monomials, dims->monomial_count, sizeof *dims->monomials, &own.monomial_cap))
        own.monomials = monomials;
    if (copy_items(&polys, dims->poly_count, sizeof *dims->polys, &own.poly_cap))
        own.polys = polys;
    own.atom_index = dims->atom_index;
    own.monomial_index = dims->monomial_index;
    own.poly_index = dims->poly_index;
    if (!copy_index(&own.atom_index, dims->atom_count))
        own.atom_index = (struct pw_dim_index){0};
    if (!copy_index(&own.monomial_index, dims->monomial_count))
        own.monomial_index = (struct pw_dim_index){0};
    if (!copy_index(&own.poly_index, dims->poly_count))
        own.poly_index = (struct pw_dim_index){0};
    if (!own.atoms || !own.monomials || !own.polys || !own.atom_index.hashes || !own.monomial_index.hashes ||
        !own.poly_index.hashes) {
        free_tables(&own);
        return false;
    }
    own.arena = dims->arena;
    own.atom_count = dims->atom_count;
    own.monomial_count = dims->monomial_count;
    own.poly_count = dims->poly_count;
    own.fresh = dims->fresh;
    *dims = own;
    return true;
}

static void index_put(struct pw_dim_index *index, size_t slot, uint32_t item, uint64_t hash)
{
    index->slots[slot] = item + 1;
    index->hashes[item] = hash;
}

/* ---- atoms ---- */

static bool atom_equal(const struct pw_dims *dims, const void *key, uint32_t item)
{
    const struct pw_dim_atom *x = key, *y = &dims->atoms[item];

    if (x->kind != y->kind)
        return false;
    return x->kind == PW_DIM_SYMBOL ? strcmp(x->name, y->name) == 0 : x->a == y->a && x->b == y->b;
}

static uint64_t atom_hash(const struct pw_dim_atom *atom)
{
    int64_t words[3] = {atom->kind, atom->a, atom->b};

    if (atom->kind == PW_DIM_SYMBOL)
        return pw_hash64(atom->name, strlen(atom->name), 0);
    return pw_hash64(words, sizeof words, 1);
}

bool pw_dim_symbol_known(const struct pw_dims *dims, const char *name)
{
    struct pw_dim_atom key = {.kind = PW_DIM_SYMBOL, .name = name};
    size_t slot;

    return index_find(dims, &dims->atom_index, atom_hash(&key), &key, atom_equal, &slot) != UINT32_MAX;
}

static void measure(const struct pw_dims *dims, pw_dim dim, uint32_t *weight, uint32_t *depth)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);

    *weight += poly != NULL ? poly->weight : 1;
    if (poly != NULL && poly->depth + 1 > *depth)
        *depth = poly->depth + 1;
}

static bool atom_add(struct pw_dims *dims, const struct pw_dim_atom *key, bool is_signed, uint32_t *out)
{
    struct pw_dim_atom atom = *key;
    uint64_t hash = atom_hash(key);
    size_t slot = 0;
    uint32_t item;

    item = index_find(dims, &dims->atom_index, hash, key, atom_equal, &slot);
    if (item == UINT32_MAX) {
        if (!own_tables(dims) || !index_reserve(&dims->atom_index, dims->atom_count))
            return false;
        index_find(dims, &dims->atom_index, hash, key, atom_equal, &slot);
        if (PW_GROW(dims->atoms, dims->atom_cap, dims->atom_count + 1, NULL) != PW_OK)
            return false;
        atom.weight = 1;
        if (key->kind == PW_DIM_SYMBOL) {
            atom.name = pw_arena_strndup(&dims->arena, key->name, strlen(key->name));
            if (atom.name == NULL)
                return false;
            atom.range = is_signed ? everything : (struct pw_dim_range){0, INT64_MAX};
        } else {
            measure(dims, atom.a, &atom.weight, &atom.depth);
            measure(dims, atom.b, &atom.weight, &atom.depth);
            if (atom.weight > PW_DIM_MAX_WEIGHT || atom.depth > PW_DIM_MAX_DEPTH)
                return false;
            atom.range = atom_range(dims, atom.kind, atom.a, atom.b);
        }
        item = (uint32_t)dims->atom_count++;
        dims->atoms[item] = atom;
        index_put(&dims->atom_index, slot, item, hash);
    }
    *out = item;
    return true;
}

/* ---- monomials ---- */

struct monomial_key {
    struct pw_dim_factor factors[PW_DIM_MAX_FACTORS];
    uint32_t count;
};

static bool monomial_equal(const struct pw_dims *dims, const void *key, uint32_t item)
{
    const struct monomial_key *x = key;
    const struct pw_dim_monomial *y = &dims->monomials[item];

    return x->count == y->count &&
           (x->count == 0 || memcmp(x->factors, y->factors, x->count * sizeof *y->factors) == 0);
}

static bool monomial_add(struct pw_dims *dims, const struct monomial_key *key, uint32_t *out)
{
    struct pw_dim_monomial made = {.count = key->count, .range = {1, 1}};
    uint64_t hash = pw_hash64(key->factors, key->count * sizeof *key->factors, 2);
    struct pw_dim_factor *factors = NULL;
    size_t slot = 0;
    uint32_t item;

    item = index_find(dims, &dims->monomial_index, hash, key, monomial_equal, &slot);
    if (item != UINT32_MAX) {
        *out = item;
        return true;
    }
    if (!own_tables(dims) || !index_reserve(&dims->monomial_index, dims->monomial_count))
        return false;
    index_find(dims, &dims->monomial_index, hash, key, monomial_equal, &slot);
    for (uint32_t i = 0; i < key->count; i++) {
        const struct pw_dim_atom *atom = &dims->atoms[key->factors[i].atom];

        made.degree += key->factors[i].power;
        if (made.degree > PW_DIM_MAX_DEGREE)
            return false;
        made.weight += atom->weight * key->factors[i].power;
        made.depth = atom->depth > made.depth ? atom->depth : made.depth;
        for (uint32_t p = 0; p < key->factors[i].power; p++)
            made.range = range_multiply(made.range, atom->range);
    }
    if (made.weight > PW_DIM_MAX_WEIGHT || PW_GROW(dims->monomials, dims->monomial_cap, dims->monomial_count + 1, NULL))
        return false;
    if (key->count > 0) {
        factors = pw_arena_alloc(&dims->arena, key->count, sizeof *factors);
        if (factors == NULL)
            return false;
        memcpy(factors, key->factors, key->count * sizeof *factors);
    }
    made.factors = factors;
    item = (uint32_t)dims->monomial_count++;
    dims->monomials[item] = made;
    index_put(&dims->monomial_index, slot, item, hash);
    *out = item;
    return true;
}

bool pw_dim_monomial_multiply(struct pw_dims *dims, uint32_t a, uint32_t b, uint32_t *out)
{
    const struct pw_dim_monomial *x = &dims->monomials[a], *y = &dims->monomials[b];
    struct monomial_key key = {.count = 0};
    uint32_t i = 0, j = 0;

    if (a == 0 || b == 0) {
        *out = a == 0 ? b : a;
        return true;
    }
    while (i < x->count || j < y->count) {
        struct pw_dim_factor next;

        if (key.count == PW_DIM_MAX_FACTORS)
            return false;
        if (j == y->count || (i < x->count && x->factors[i].atom < y->factors[j].atom)) {
            next = x->factors[i++];
        } else if (i == x->count || y->factors[j].atom < x->factors[i].atom) {
            next = y->factors[j++];
        } else {
            next = x->factors[i++];
            next.power += y->factors[j++].power;
        }
        key.factors[key.count++] = next;
    }
    return monomial_add(dims, &key, out);
}

bool pw_dim_monomial_divide(struct pw_dims *dims, uint32_t a, uint32_t b, uint32_t *out)
{
    const struct pw_dim_monomial *x = &dims->monomials[a], *y = &dims->monomials[b];
    struct monomial_key key = {.count = 0};
    uint32_t j = 0;

    for (uint32_t i = 0; i < x->count; i++) {
        struct pw_dim_factor next = x->factors[i];

        if (j < y->count && y->factors[j].atom == next.atom) {
            if (y->factors[j].power > next.power)
                return false;
            next.power -= y->factors[j++].power;
        }
        if (next.power > 0)
            key.factors[key.count++] = next;
    }
    return j == y->count && monomial_add(dims, &key, out);
}

/* Graded lexicographic: an order that multiplication respects, so that long division ends. */
static int monomial_compare(const struct pw_dims *dims, uint32_t a, uint32_t b)
{
    const struct pw_dim_monomial *x = &dims->monomials[a], *y = &dims->monomials[b];

    if (a == b)
        return 0;
    if (x->degree != y->degree)
        return x->degree < y->degree ? -1 : 1;
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        if (x->factors[i].atom != y->factors[i].atom)
            return x->factors[i].atom < y->factors[i].atom ? 1 : -1;
        if (x->factors[i].power != y->factors[i].power)
            return x->factors[i].power < y->factors[i].power ? -1 : 1;
    }
    return 0; /* not reached: equal degrees and factors are one item */
}

/* ---- polynomials ---- */

const struct pw_dim_poly *pw_dim_poly_at(const struct pw_dims *dims, pw_dim dim)
{
    if (dim >= 0 || dim == PW_DIM_UNKNOWN || (uint64_t)(-1 - dim) >= dims->poly_count)
        return NULL; /* a plain negative number that someone took for a dim is as good as unknown */
    return &dims->polys[-1 - dim];
}

const struct pw_dim_atom *pw_dim_atom_at(const struct pw_dims *dims, pw_dim dim)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);
    const struct pw_dim_monomial *monomial;

    if (poly == NULL || poly->count != 1 || poly->terms[0].coefficient != 1)
        return NULL;
    monomial = &dims->monomials[poly->terms[0].monomial];
    return monomial->degree == 1 ? &dims->atoms[monomial->factors[0].atom] : NULL;
}

void pw_dim_sum_load(const struct pw_dims *dims, pw_dim dim, struct pw_dim_sum *sum)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);

    sum->count = 0;
    sum->failed = dim < 0 && poly == NULL;
    if (poly != NULL) {
        memcpy(sum->terms, poly->terms, poly->count * sizeof *poly->terms);
        sum->count = poly->count;
    } else if (dim > 0) {
        sum->terms[0] = (struct pw_dim_term){0, dim};
        sum->count = 1;
    }
}

void pw_dim_sum_add(const struct pw_dims *dims, struct pw_dim_sum *sum, uint32_t monomial, int64_t coefficient)
{
    uint32_t low = 0, high = sum->count;

    if (sum->failed || coefficient == 0)
        return;
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (monomial_compare(dims, sum->terms[middle].monomial, monomial) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < sum->count && sum->terms[low].monomial == monomial) {
        int64_t *c = &sum->terms[low].coefficient;

        if (__builtin_add_overflow(*c, coefficient, c)) {
            sum->failed = true;
        } else if (*c == 0) {
            sum->count--;
            memmove(&sum->terms[low], &sum->terms[low + 1], (sum->count - low) * sizeof *sum->terms);
        }
        return;
    }
    if (sum->count == PW_DIM_MAX_TERMS) {
        sum->failed = true;
        return;
    }
    memmove(&sum->terms[low + 1], &sum->terms[low], (sum->count - low) * sizeof *sum->terms);
    sum->terms[low] = (struct pw_dim_term){monomial, coefficient};
    sum->count++;
}

static bool poly_equal(const struct pw_dims *dims, const void *key, uint32_t item)
{
    const struct pw_dim_sum *x = key;
    const struct pw_dim_poly *y = &dims->polys[item];

    if (x->count != y->count)
        return false;
    for (uint32_t i = 0; i < x->count; i++) {
        if (x->terms[i].monomial != y->terms[i].monomial || x->terms[i].coefficient != y->terms[i].coefficient)
            return false;
    }
    return true;
}

static uint64_t poly_hash(const struct pw_dim_sum *sum)
{
    uint64_t words[2 * PW_DIM_MAX_TERMS]; /* terms have padding */

    for (uint32_t i = 0; i < sum->count; i++) {
        words[2 * i] = sum->terms[i].monomial;
        words[2 * i + 1] = (uint64_t)sum->terms[i].coefficient;
    }
    return pw_hash64(words, 2 * sum->count * sizeof *words, 3);
}

pw_dim pw_dim_sum_intern(struct pw_dims *dims, const struct pw_dim_sum *sum)
{
    struct pw_dim_poly made = {.count = sum->count};
    struct pw_dim_term *terms = NULL;
    uint64_t hash;
    size_t slot = 0;
    uint32_t item;

    if (sum->failed)
        return PW_DIM_UNKNOWN;
    if (sum->count == 0)
        return 0;
    if (sum->count == 1 && sum->terms[0].monomial == 0 && sum->terms[0].coefficient > 0)
        return sum->terms[0].coefficient;
    hash = poly_hash(sum);
    item = index_find(dims, &dims->poly_index, hash, sum, poly_equal, &slot);
    if (item != UINT32_MAX)
        return -1 - (pw_dim)item;
    if (!own_tables(dims) || !index_reserve(&dims->poly_index, dims->poly_count))
        return PW_DIM_UNKNOWN;
    index_find(dims, &dims->poly_index, hash, sum, poly_equal, &slot);
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct pw_dim_monomial *monomial = &dims->monomials[sum->terms[i].monomial];

        made.weight += monomial->weight > 0 ? monomial->weight : 1;
        made.depth = monomial->depth > made.depth ? monomial->depth : made.depth;
    }
    if (made.weight > PW_DIM_MAX_WEIGHT || PW_GROW(dims->polys, dims->poly_cap, dims->poly_count + 1, NULL) != PW_OK)
        return PW_DIM_UNKNOWN;
    terms = pw_arena_alloc(&dims->arena, sum->count, sizeof *terms);
    if (terms == NULL)
        return PW_DIM_UNKNOWN;
    memcpy(terms, sum->terms, sum->count * sizeof *terms);
    made.terms = terms;
    item = (uint32_t)dims->poly_count++;
    dims->polys[item] = made;
    index_put(&dims->poly_index, slot, item, hash);
    return -1 - (pw_dim)item;
}

pw_dim pw_dim_atom_intern(struct pw_dims *dims, pw_dim_kind kind, const char *name, bool is_signed, pw_dim a, pw_dim b)
{
    struct pw_dim_atom key = {.kind = kind, .name = name, .a = a, .b = b};
    struct monomial_key product = {.count = 1};
    struct pw_dim_sum sum = {.count = 1};

    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN || !atom_add(dims, &key, is_signed, &product.factors[0].atom))
        return PW_DIM_UNKNOWN;
    product.factors[0].power = 1;
    if (!monomial_add(dims, &product, &sum.terms[0].monomial))
        return PW_DIM_UNKNOWN;
    sum.terms[0].coefficient = 1;
    return pw_dim_sum_intern(dims, &sum);
}

/* ---- life ---- */

pw_status pw_dims_create(struct pw_dims **out, struct pw_error *err)
{
    struct pw_dims *dims = pw_calloc(1, sizeof *dims);
    struct monomial_key one = {.count = 0};
    uint32_t item;

    if (dims == NULL)
        return pw_error_memory(err, sizeof *dims);
    if (!monomial_add(dims, &one, &item)) {
        pw_dims_destroy(dims);
        return pw_error_memory(err, sizeof *dims->monomials);
    }
    *out = dims;
    return PW_OK;
}

pw_status pw_dims_borrow(const struct pw_dims *base, struct pw_dims **out, struct pw_error *err)
{
    struct pw_dims *dims = pw_calloc(1, sizeof *dims);

    if (dims == NULL)
        return pw_error_memory(err, sizeof *dims);
    *dims = *base;
    dims->arena = (struct pw_arena){0};
    dims->borrowed = true;
    *out = dims;
    return PW_OK;
}

void pw_dims_destroy(struct pw_dims *dims)
{
    if (dims == NULL)
        return;
    if (!dims->borrowed)
        free_tables(dims);
    pw_arena_clear(&dims->arena);
    pw_free(dims);
}
