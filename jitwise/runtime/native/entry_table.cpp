#include "entry_table.h"

#include <algorithm>
#include <utility>

namespace jitwise::dispatch {

EntryList::EntryList(std::vector<std::uint64_t> key, std::vector<Entry *> list)
    : words(std::move(key)), entries(std::move(list)) {
    for (Entry *entry : entries) Py_INCREF(entry);
}

EntryList::~EntryList() {
    for (Entry *entry : entries) Py_DECREF(entry);
}

EntryList *Table::find_by_hash(const Signature &call) {
    const std::uint64_t hash = hash_words(call.words.data(), call.words.size());
    const auto range = lists_.equal_range(hash);
    for (auto it = range.first; it != range.second; ++it)
        if (it->second->serves(call)) return recent_ = it->second;
    return nullptr;
}

Table::Lists::iterator Table::position_of(const std::vector<std::uint64_t> &words) {
    const auto range = lists_.equal_range(hash_words(words.data(), words.size()));
    for (auto it = range.first; it != range.second; ++it)
        if (it->second->words == words) return it;
    return lists_.end();
}

// The old list is released last: that may run Python code, which may come back here.
void Table::replace(Lists::iterator position, std::vector<Entry *> entries) {
    EntryList *old = position->second;
    if (entries.empty()) {
        lists_.erase(position);
        if (recent_ == old) recent_ = nullptr;
    } else {
        position->second = new EntryList(old->words, std::move(entries));
        if (recent_ == old) recent_ = position->second;
    }
    old->release();
}

void Table::add(Entry *entry, bool front) {
    forget();
    if (lists_.size() >= sweep_at_) sweep();
    const std::vector<std::uint64_t> &words = entry->parts->words;
    const auto position = position_of(words);
    if (position == lists_.end()) {
        const std::uint64_t hash = hash_words(words.data(), words.size());
        auto list = std::make_unique<EntryList>(words, std::vector<Entry *>{entry});
        lists_.emplace(hash, list.get());
        list.release();
        return;
    }
    // Entries whose objects have died can never match again. One that runs Python without asking
    // anything would shadow all that follow it: programs come first.
    std::vector<Entry *> entries;
    for (Entry *other : position->second->entries)
        if (entry_is_alive(other)) entries.push_back(other);
    auto place = entries.begin();
    const bool plain = entry->parts->program == nullptr;
    if (!front)
        place = plain ? entries.end()
                      : std::find_if(entries.begin(), entries.end(), [](Entry *other) {
                            return other->parts->program == nullptr;
                        });
    entries.insert(place, entry);
    replace(position, std::move(entries));
}

bool Table::remove(Entry *entry) {
    forget();
    if (entry->parts == nullptr) return false;
    const auto position = position_of(entry->parts->words);
    if (position == lists_.end()) return false;
    std::vector<Entry *> entries = position->second->entries;
    const auto place = std::find(entries.begin(), entries.end(), entry);
    if (place == entries.end()) return false;
    entries.erase(place);
    replace(position, std::move(entries));
    return true;
}

void Table::forget() {
    ++changes_;
    memory.clear();
}

void Table::clear() {
    forget();
    recent_ = nullptr;
    Lists old;
    old.swap(lists_);
    for (auto &item : old) item.second->release();
}

void Table::sweep() {
    std::vector<Entry *> dead;
    for (const auto &item : lists_)
        for (Entry *entry : item.second->entries)
            if (!entry_is_alive(entry)) {
                Py_INCREF(entry);
                dead.push_back(entry);
            }
    for (Entry *entry : dead) remove(entry);
    sweep_at_ = std::max<std::size_t>(64, 2 * lists_.size());
    for (Entry *entry : dead) Py_DECREF(entry);
}

int Table::visit(visitproc visit, void *arg) const {
    for (const auto &item : lists_)
        for (Entry *entry : item.second->entries) Py_VISIT(entry);
    return memory.visit(visit, arg);
}

std::vector<Entry *> Table::all() const {
    std::vector<Entry *> entries;
    for (const auto &item : lists_)
        for (Entry *entry : item.second->entries) entries.push_back(entry);
    return entries;
}

}  // namespace jitwise::dispatch
