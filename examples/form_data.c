/* SPDX-License-Identifier: MIT */
/* POST /form takes a form, urlencoded or multipart, and reports in JSON what was
 * in it. The content is there as a whole; upload.c takes it piece by piece. */
#include "example.h"

/* Gathers the report while a form is read. */
struct report {
    struct restd_json json;
    char text[8192];
    char value[64]; /* how a field begins */
    uint64_t bytes;
    int is_file;
};

static int on_part(const struct restd_form_part *part, void *data)
{
    struct report *report = data;

    report->bytes = 0;
    report->is_file = part->filename.data != NULL;
    restd_json_object_begin(&report->json);
    restd_json_key(&report->json, "name");
    restd_json_string(&report->json, part->name.data, part->name.len);
    if (report->is_file) {
        restd_json_key(&report->json, "file");
        restd_json_string(&report->json, part->filename.data,
                          part->filename.len);
    }
    return 0;
}

static int on_content(const char *bytes, size_t len, void *data)
{
    struct report *report = data;

    for (size_t i = 0; i < len && report->bytes + i < sizeof(report->value);
         i++) {
        report->value[report->bytes + i] = bytes[i];
    }
    report->bytes += len;
    return 0;
}

static int on_end(void *data)
{
    struct report *report = data;
    size_t len = sizeof(report->value);

    if (!report->is_file) {
        restd_json_key(&report->json, "value");
        restd_json_string(&report->json, report->value,
                          report->bytes < len ? (size_t)report->bytes : len);
    }
    restd_json_key(&report->json, "bytes");
    restd_json_uint(&report->json, report->bytes);
    restd_json_object_end(&report->json);
    return 0;
}

static const struct restd_form_ops form_ops = {sizeof(form_ops), on_part,
                                               on_content, on_end};

static int form(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct report report;

    (void)data;
    restd_json_init(&report.json, report.text, sizeof(report.text));
    restd_json_array_begin(&report.json);
    if (restd_form_read(restd_request_header(request, "Content-Type"),
                        restd_request_body(request), NULL, &form_ops,
                        &report) != 0) {
        return restd_response_problem(response, 400, "not a form");
    }
    restd_json_array_end(&report.json);
    long len = restd_json_finish(&report.json);
    if (len < 0) {
        return restd_response_problem(response, 413, "too much to report");
    }
    restd_response_set_type(response, "application/json");
    return restd_response_body(response, report.text, (size_t)len);
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"POST", "/form", form, NULL},
    };

    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
