#include "simdjson_door.h"

#include <deque>
#include <memory>
#include <new>
#include <simdjson.h>
#include <vector>

namespace dom = simdjson::dom;

struct firemount_document {
    dom::parser parser;
    std::vector<firemount_object> objects;
    /// One block an object that has custom metadata; a deque never moves its blocks.
    std::deque<std::vector<firemount_text_pair>> custom;
    std::vector<firemount_text> names;
    std::vector<firemount_text> prefixes;
    firemount_answer answer{};
};

namespace {

constexpr firemount_text no_text{nullptr, 0};

firemount_text text_of(std::string_view view) { return {view.data(), view.size()}; }

/// Null and values of another type count as absent.
firemount_text text_of(dom::element value) {
    std::string_view view;
    return value.get_string().get(view) == simdjson::SUCCESS ? text_of(view) : no_text;
}

/// A whole number of at least 0, written as a number or as a string of digits; false when it is neither.
bool read_number(dom::element value, int64_t &number) {
    if (value.get_int64().get(number) == simdjson::SUCCESS) return number >= 0;
    std::string_view digits;
    if (value.get_string().get(digits) != simdjson::SUCCESS || digits.empty() || digits.size() > 19) return false;
    uint64_t sum = 0;
    for (char digit : digits) {
        if (digit < '0' || digit > '9') return false;
        sum = sum * 10 + uint64_t(digit - '0');
    }
    if (sum > uint64_t(INT64_MAX)) return false;
    number = int64_t(sum);
    return true;
}

void read_custom(firemount_document &document, firemount_object &object, dom::element value) {
    dom::object pairs;
    if (value.get_object().get(pairs) != simdjson::SUCCESS || pairs.begin() == pairs.end()) return;
    std::vector<firemount_text_pair> &block = document.custom.emplace_back();
    for (dom::key_value_pair pair : pairs) {
        firemount_text text = text_of(pair.value);
        if (text.bytes != nullptr) block.push_back({text_of(pair.key), text});
    }
    object.custom = block.data();
    object.custom_count = block.size();
}

firemount_text *text_field(firemount_object &object, std::string_view key) {
    switch (key.size()) {
    case 4:
        if (key == "name") return &object.name;
        if (key == "etag") return &object.etag;
        break;
    case 6:
        if (key == "crc32c") return &object.crc32c;
        break;
    case 7:
        if (key == "md5Hash") return &object.md5_hash;
        if (key == "updated") return &object.updated;
        break;
    case 11:
        if (key == "contentType") return &object.content_type;
        if (key == "timeCreated") return &object.time_created;
        break;
    case 12:
        if (key == "storageClass") return &object.storage_class;
        if (key == "cacheControl") return &object.cache_control;
        break;
    case 14:
        if (key == "downloadTokens") return &object.download_tokens;
        break;
    case 15:
        if (key == "contentEncoding") return &object.content_encoding;
        if (key == "contentLanguage") return &object.content_language;
        break;
    case 18:
        if (key == "contentDisposition") return &object.content_disposition;
        break;
    }
    return nullptr;
}

int64_t *number_field(firemount_object &object, std::string_view key) {
    if (key == "generation") return &object.generation;
    if (key == "metageneration") return &object.metageneration;
    if (key == "size") return &object.size;
    if (key == "componentCount") return &object.component_count;
    return nullptr;
}

/// Returns what is wrong, or NULL.
const char *read_object(firemount_document &document, dom::element value) {
    dom::object fields;
    if (value.get_object().get(fields) != simdjson::SUCCESS) return "an item is no JSON object";
    firemount_object object{};
    object.generation = object.metageneration = object.size = object.component_count = -1;
    for (dom::key_value_pair field : fields) {
        if (firemount_text *text = text_field(object, field.key)) {
            *text = text_of(field.value);
        } else if (int64_t *number = number_field(object, field.key)) {
            if (!field.value.is_null() && !read_number(field.value, *number)) return "a number is malformed";
        } else if (field.key == "metadata") {
            read_custom(document, object, field.value);
        }
    }
    if (object.name.bytes == nullptr || object.name.length == 0) return "an object has no name";
    if (object.generation < 0) return "an object has no generation";
    if (object.size < 0) return "an object has no size";
    document.objects.push_back(object);
    return nullptr;
}

const char *read_name(firemount_document &document, dom::element value) {
    dom::element name;
    if (value["name"].get(name) != simdjson::SUCCESS) return "an object has no name";
    firemount_text text = text_of(name);
    if (text.bytes == nullptr || text.length == 0) return "an object has no name";
    document.names.push_back(text);
    return nullptr;
}

const char *read_page(firemount_document &document, dom::object fields, bool names_only) {
    bool is_page = false;
    for (dom::key_value_pair field : fields) {
        dom::array list;
        is_page = is_page || field.key == "kind" || field.key == "items" || field.key == "prefixes" ||
                  field.key == "nextPageToken";
        if (field.key == "items") {
            if (field.value.is_null()) continue;
            if (field.value.get_array().get(list) != simdjson::SUCCESS) return "items is no list";
            if (!names_only) document.objects.reserve(list.size());
            for (dom::element item : list) {
                const char *problem = names_only ? read_name(document, item) : read_object(document, item);
                if (problem) return problem;
            }
        } else if (field.key == "prefixes") {
            if (field.value.is_null()) continue;
            if (field.value.get_array().get(list) != simdjson::SUCCESS) return "prefixes is no list";
            for (dom::element item : list) {
                firemount_text text = text_of(item);
                if (text.bytes == nullptr || text.length == 0) return "a prefix is no text";
                document.prefixes.push_back(text);
            }
        } else if (field.key == "nextPageToken") {
            document.answer.next_page_token = text_of(field.value);
        }
    }
    // An empty page must not be mistaken for some other answer: a folder would look empty.
    return is_page ? nullptr : "the answer is no list page";
}

const char *read_rewrite(firemount_document &document, dom::object fields) {
    firemount_answer &answer = document.answer;
    bool says_done = false;
    for (dom::key_value_pair field : fields) {
        if (field.key == "done") {
            if (field.value.get_bool().get(answer.done) != simdjson::SUCCESS) return "done is no boolean";
            says_done = true;
        } else if (field.key == "rewriteToken") {
            answer.rewrite_token = text_of(field.value);
        } else if (field.key == "totalBytesRewritten") {
            if (!read_number(field.value, answer.total_bytes_rewritten)) return "a number is malformed";
        } else if (field.key == "resource" && !field.value.is_null()) {
            if (const char *problem = read_object(document, field.value)) return problem;
        }
    }
    if (!says_done) return "the rewrite does not say whether it is done";
    if (answer.done && document.objects.empty()) return "the finished rewrite has no object";
    if (!answer.done && answer.rewrite_token.length == 0) return "the unfinished rewrite has no token";
    return nullptr;
}

const char *read_error(firemount_document &document, dom::element error) {
    firemount_answer &answer = document.answer;
    answer.is_error = true;
    // Some servers put a bare text there.
    answer.error_message = text_of(error);
    dom::object fields;
    if (error.get_object().get(fields) != simdjson::SUCCESS) return nullptr;
    answer.error_message = no_text;
    for (dom::key_value_pair field : fields) {
        if (field.key == "message") answer.error_message = text_of(field.value);
        dom::array errors;
        if (field.key != "errors" || field.value.get_array().get(errors) != simdjson::SUCCESS) continue;
        for (dom::element item : errors) {
            std::string_view reason;
            if (item["reason"].get_string().get(reason) != simdjson::SUCCESS) continue;
            answer.error_reason = text_of(reason);
            break;
        }
    }
    return nullptr;
}

const char *read_answer(firemount_document &document, dom::element root, firemount_answer_kind kind) {
    dom::object fields;
    if (root.get_object().get(fields) != simdjson::SUCCESS) return "the answer is no JSON object";
    dom::element error;
    if (fields["error"].get(error) == simdjson::SUCCESS) return read_error(document, error);
    switch (kind) {
    case firemount_page_answer: return read_page(document, fields, false);
    case firemount_name_page_answer: return read_page(document, fields, true);
    case firemount_object_answer: return read_object(document, root);
    case firemount_rewrite_answer: return read_rewrite(document, fields);
    case firemount_error_answer: return "the answer tells of no error";
    }
    return "unknown kind of answer";
}

} // namespace

extern "C" firemount_document *firemount_document_read(
    const void *bytes, size_t length, firemount_answer_kind kind, const char **problem) {
    try {
        auto document = std::make_unique<firemount_document>();
        document->answer.total_bytes_rewritten = -1;
        dom::element root;
        if (document->parser.parse(static_cast<const char *>(bytes), length).get(root) != simdjson::SUCCESS) {
            *problem = "the answer is no JSON";
            return nullptr;
        }
        *problem = read_answer(*document, root, kind);
        if (*problem != nullptr) return nullptr;
        firemount_answer &answer = document->answer;
        answer.objects = document->objects.data();
        answer.object_count = document->objects.size();
        answer.names = document->names.data();
        answer.name_count = document->names.size();
        answer.prefixes = document->prefixes.data();
        answer.prefix_count = document->prefixes.size();
        return document.release();
    } catch (const std::bad_alloc &) {
        *problem = "no memory for the answer";
        return nullptr;
    }
}

extern "C" void firemount_document_free(firemount_document *document) { delete document; }

extern "C" const firemount_answer *firemount_document_answer(const firemount_document *document) {
    return &document->answer;
}
