/* SPDX-License-Identifier: MIT */
/* The table of media types. Text is said to be UTF-8, as nothing else is
 * written any more; XML and JSON say it themselves. A new type goes into the
 * order of the alphabet. Any thread. */
#include "plugins/mime.h"

#include <string.h>

#include "base/slice.h"

#define UTF8(type) type "; charset=utf-8"

static const struct rd_mime table[] = {
    {"7z", 1, "application/x-7z-compressed"},
    {"aac", 1, "audio/aac"},
    {"ai", 0, "application/postscript"},
    {"apng", 1, "image/apng"},
    {"atom", 0, "application/atom+xml"},
    {"avi", 1, "video/vnd.avi"},
    {"avif", 1, "image/avif"},
    {"bin", 0, "application/octet-stream"},
    {"bmp", 0, "image/bmp"},
    {"bz2", 1, "application/x-bzip2"},
    {"conf", 0, UTF8("text/plain")},
    {"css", 0, UTF8("text/css")},
    {"csv", 0, UTF8("text/csv")},
    {"deb", 1, "application/vnd.debian.binary-package"},
    {"doc", 0, "application/msword"},
    {"docx", 1,
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"dtd", 0, "application/xml-dtd"},
    {"eot", 0, "application/vnd.ms-fontobject"},
    {"eps", 0, "application/postscript"},
    {"epub", 1, "application/epub+zip"},
    {"flac", 1, "audio/flac"},
    {"geojson", 0, "application/geo+json"},
    {"gif", 1, "image/gif"},
    {"glb", 0, "model/gltf-binary"},
    {"gltf", 0, "model/gltf+json"},
    {"gz", 1, "application/gzip"},
    {"heic", 1, "image/heic"},
    {"htm", 0, UTF8("text/html")},
    {"html", 0, UTF8("text/html")},
    {"ico", 0, "image/vnd.microsoft.icon"},
    {"ics", 0, UTF8("text/calendar")},
    {"iso", 0, "application/x-iso9660-image"},
    {"jar", 1, "application/java-archive"},
    {"jpeg", 1, "image/jpeg"},
    {"jpg", 1, "image/jpeg"},
    {"js", 0, UTF8("text/javascript")},
    {"json", 0, "application/json"},
    {"jsonld", 0, "application/ld+json"},
    {"log", 0, UTF8("text/plain")},
    {"m3u8", 0, "application/vnd.apple.mpegurl"},
    {"m4a", 1, "audio/mp4"},
    {"m4v", 1, "video/mp4"},
    {"map", 0, "application/json"},
    {"markdown", 0, UTF8("text/markdown")},
    {"md", 0, UTF8("text/markdown")},
    {"mid", 0, "audio/midi"},
    {"mjs", 0, UTF8("text/javascript")},
    {"mkv", 1, "video/matroska"},
    {"mov", 1, "video/quicktime"},
    {"mp3", 1, "audio/mpeg"},
    {"mp4", 1, "video/mp4"},
    {"mpd", 0, "application/dash+xml"},
    {"mpeg", 1, "video/mpeg"},
    {"mpg", 1, "video/mpeg"},
    {"ndjson", 0, "application/x-ndjson"},
    {"odp", 1, "application/vnd.oasis.opendocument.presentation"},
    {"ods", 1, "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", 1, "application/vnd.oasis.opendocument.text"},
    {"oga", 1, "audio/ogg"},
    {"ogg", 1, "audio/ogg"},
    {"ogv", 1, "video/ogg"},
    {"opus", 1, "audio/ogg"},
    {"otf", 0, "font/otf"},
    {"pdf", 1, "application/pdf"},
    {"png", 1, "image/png"},
    {"ppt", 0, "application/vnd.ms-powerpoint"},
    {"pptx", 1,
     "application/"
     "vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ps", 0, "application/postscript"},
    {"rar", 1, "application/vnd.rar"},
    {"rdf", 0, "application/rdf+xml"},
    {"rpm", 1, "application/x-rpm"},
    {"rss", 0, "application/rss+xml"},
    {"rtf", 0, "application/rtf"},
    {"stl", 0, "model/stl"},
    {"svg", 0, "image/svg+xml"},
    {"tar", 0, "application/x-tar"},
    {"text", 0, UTF8("text/plain")},
    {"tgz", 1, "application/gzip"},
    {"tif", 0, "image/tiff"},
    {"tiff", 0, "image/tiff"},
    {"toml", 0, "application/toml"},
    {"ts", 1, "video/mp2t"},
    {"tsv", 0, UTF8("text/tab-separated-values")},
    {"ttc", 0, "font/collection"},
    {"ttf", 0, "font/ttf"},
    {"txt", 0, UTF8("text/plain")},
    {"vcf", 0, UTF8("text/vcard")},
    {"vtt", 0, UTF8("text/vtt")},
    {"wasm", 0, "application/wasm"},
    {"wav", 0, "audio/vnd.wave"},
    {"weba", 1, "audio/webm"},
    {"webm", 1, "video/webm"},
    {"webmanifest", 0, "application/manifest+json"},
    {"webp", 1, "image/webp"},
    {"woff", 1, "font/woff"},
    {"woff2", 1, "font/woff2"},
    {"xhtml", 0, "application/xhtml+xml"},
    {"xls", 0, "application/vnd.ms-excel"},
    {"xlsx", 1,
     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", 0, "application/xml"},
    {"xsd", 0, "application/xml"},
    {"xsl", 0, "application/xslt+xml"},
    {"xslt", 0, "application/xslt+xml"},
    {"xz", 1, "application/x-xz"},
    {"yaml", 0, "application/yaml"},
    {"yml", 0, "application/yaml"},
    {"zip", 1, "application/zip"},
    {"zst", 1, "application/zstd"},
};

/* The extension in small letters; 0 if there is none, or too long a one. */
static int extension_of(struct restd_slice path, char *out, size_t size)
{
    size_t n = 0;

    while (n < path.len && path.data[path.len - n - 1] != '.') {
        if (path.data[path.len - n - 1] == '/' || ++n == size) {
            return 0;
        }
    }
    size_t dot = path.len - n;
    if (n == 0 || dot < 2 || path.data[dot - 2] == '/') {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = rd_ascii_lower(path.data[dot + i]);
    }
    out[n] = '\0';
    return 1;
}

const struct rd_mime *rd_mime_of(struct restd_slice path)
{
    char extension[sizeof(table[0].extension)];
    size_t low = 0;
    size_t high = sizeof(table) / sizeof(table[0]);

    if (!extension_of(path, extension, sizeof(extension))) {
        return NULL;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(extension, table[middle].extension);
        if (order == 0) {
            return &table[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
