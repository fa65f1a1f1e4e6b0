// The entries of a function, found by the words of a call.
//
// The entries of one signature form an `EntryList`. Lists are shared and copied on change: a call
// holds its list while it tries the entries, so entries may be added and removed under it, by
// another thread or by the call itself. The list that served last is compared first, which makes a
// steady caller pay for one comparison and no hash.
#pragma once

#include <Python.h>

#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "entry.h"
#include "memo.h"

namespace jitwise::dispatch {

class EntryList {
public:
    EntryList(std::vector<std::uint64_t> words, std::vector<Entry *> entries);
    ~EntryList();
    EntryList(const EntryList &) = delete;
    EntryList &operator=(const EntryList &) = delete;

    const std::vector<std::uint64_t> words;
    const std::vector<Entry *> entries;  // owned; those that run Python come last
    std::size_t recent = 0;              // tried first when the list is long
    int users = 1;                       // under the GIL

    bool serves(const Signature &call) const {
        return words.size() == call.words.size() &&
               std::memcmp(words.data(), call.words.data(), words.size() * 8) == 0;
    }
    void release() {
        if (--users == 0) delete this;
    }
};

class Table {
public:
    Table() = default;
    ~Table() { clear(); }
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    // Borrowed; null when no entry has these words.
    EntryList *find(const Signature &call) {
        if (recent_ != nullptr && recent_->serves(call)) return recent_;
        return find_by_hash(call);
    }
    // Takes a reference of its own. `front`: before the other programs of this signature.
    void add(Entry *entry, bool front);
    bool remove(Entry *entry);
    void clear();
    std::size_t size() const { return lists_.size(); }
    int visit(visitproc visit, void *arg) const;
    // All entries, borrowed, in order of trial within a signature.
    std::vector<Entry *> all() const;

    Memory memory;                   // forgotten at each change
    std::uint64_t changes() const { return changes_; }

private:
    using Lists = std::unordered_multimap<std::uint64_t, EntryList *>;
    EntryList *find_by_hash(const Signature &call);
    Lists::iterator position_of(const std::vector<std::uint64_t> &words);
    void replace(Lists::iterator position, std::vector<Entry *> entries);
    void sweep();
    void forget();

    Lists lists_;
    EntryList *recent_ = nullptr;  // borrowed from lists_
    std::uint64_t changes_ = 0;
    std::size_t sweep_at_ = 64;
};

}  // namespace jitwise::dispatch
