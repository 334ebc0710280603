/* SPDX-License-Identifier: MIT */
/* librestd: everything, in reading order. */
#ifndef RESTD_RESTD_H
#define RESTD_RESTD_H

#include <restd/version.h>

#include <restd/error.h>

#include <restd/options.h>

#include <restd/http.h>

#include <restd/request.h>

#include <restd/response.h>

#include <restd/plugin.h>

#include <restd/router.h>

#include <restd/deferred.h>

#include <restd/stream.h>

#include <restd/plugins.h>

#include <restd/listing.h>

#include <restd/files.h>

#include <restd/stats.h>

#include <restd/loop.h>

#include <restd/server.h>

#include <restd/form.h>

#include <restd/json.h>

#include <restd/uri.h>

#endif
