#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A string of a document: UTF-8, not ended by a zero. `bytes` is NULL where the document has no such string.
/// Lives as long as the document.
typedef struct {
    const char *bytes;
    size_t length;
} firemount_text;

typedef struct {
    firemount_text key;
    firemount_text value;
} firemount_text_pair;

/// An object resource. `name`, `generation` and `size` are always there; other numbers are -1 where absent.
typedef struct {
    firemount_text name;
    int64_t generation;
    int64_t metageneration;
    int64_t size;
    int64_t component_count;
    firemount_text crc32c;
    firemount_text md5_hash;
    firemount_text etag;
    firemount_text storage_class;
    firemount_text time_created;
    firemount_text updated;
    firemount_text content_type;
    firemount_text content_encoding;
    firemount_text content_disposition;
    firemount_text content_language;
    firemount_text cache_control;
    firemount_text download_tokens;
    const firemount_text_pair *custom;
    size_t custom_count;
} firemount_object;

/// What a server's JSON answer says, whatever kind of answer it is. Lists are empty and texts NULL where it says
/// nothing.
typedef struct {
    /// A list page's items, or the one object (of an object resource or of a finished rewrite).
    const firemount_object *objects;
    size_t object_count;
    /// A page's items of which it tells the name alone.
    const firemount_text *names;
    size_t name_count;
    const firemount_text *prefixes;
    size_t prefix_count;
    firemount_text next_page_token;
    /// Of a rewrite.
    bool done;
    firemount_text rewrite_token;
    int64_t total_bytes_rewritten;
    /// Of an error.
    bool is_error;
    firemount_text error_message;
    firemount_text error_reason;
} firemount_answer;

typedef enum {
    firemount_page_answer,
    firemount_name_page_answer,
    firemount_object_answer,
    firemount_rewrite_answer,
    firemount_error_answer
} firemount_answer_kind;

typedef struct firemount_document firemount_document;

/// Reads `length` bytes at `bytes` as an answer of `kind`; numbers may be written as strings, unknown fields are
/// skipped.
/// Where a page, object or rewrite is expected and the document is an error, `is_error` is set.
/// Returns NULL when it is no such answer; then `*problem` says why, in a text that lives for ever.
firemount_document *firemount_document_read(
    const void *bytes, size_t length, firemount_answer_kind kind, const char **problem);
void firemount_document_free(firemount_document *document);
const firemount_answer *firemount_document_answer(const firemount_document *document);

#ifdef __cplusplus
}
#endif
