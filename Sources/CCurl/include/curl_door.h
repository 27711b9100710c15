#pragma once
#include <curl/curl.h>

// Swift cannot call variadic functions: one typed door for each kind of argument. No logic here.

CURLcode curl_door_set_long(CURL *easy, CURLoption option, long value);
CURLcode curl_door_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode curl_door_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode curl_door_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode curl_door_set_transfer_callback(CURL *easy, CURLoption option, curl_write_callback callback);
CURLcode curl_door_set_seek_callback(CURL *easy, curl_seek_callback callback);
CURLcode curl_door_set_progress_callback(CURL *easy, curl_xferinfo_callback callback);
CURLcode curl_door_set_prerequest_callback(CURL *easy, curl_prereq_callback callback);

CURLcode curl_door_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode curl_door_get_private(CURL *easy, char **value);

CURLMcode curl_door_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLSHcode curl_door_share(CURLSH *share, curl_lock_data what);
