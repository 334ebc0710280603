/* SPDX-License-Identifier: MIT */
/* The library from C++11: an owner for the server, handlers that are methods,
 * and exceptions that end as 500 instead of crossing the library's C code. */
#include "example.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

std::string text(restd_slice slice)
{
    return slice.data ? std::string(slice.data, slice.len) : std::string();
}

int reply(restd_response *response, const std::string &content)
{
    return restd_response_body(response, content.data(), content.size());
}

class Greeter
{
  public:
    explicit Greeter(std::string greeting) : greeting_(std::move(greeting))
    {
    }

    int hello(restd_request *request, restd_response *response) const
    {
        return reply(response, greeting_ + ", " +
                                   text(restd_request_param(request, "name")) +
                                   "!\n");
    }

    int fail(restd_request *, restd_response *) const
    {
        throw std::runtime_error("this one always fails");
    }

  private:
    const std::string greeting_; // read by all loops at once, never changed
};

// A handler for the library that calls a method of the Greeter in `data`.
template <int (Greeter::*method)(restd_request *, restd_response *) const>
int call(restd_request *request, restd_response *response, void *data)
{
    try {
        return (static_cast<const Greeter *>(data)->*method)(request, response);
    } catch (const std::exception &fault) {
        return restd_response_problem(response, 500, fault.what());
    }
}

using Server = std::unique_ptr<restd_server, decltype(&restd_server_free)>;

Server make_server()
{
    restd_server *server = nullptr;
    restd_error error;

    if (restd_server_new(nullptr, &server, &error) != 0) {
        throw std::runtime_error(error.message);
    }
    return Server(server, restd_server_free);
}

void add(const Server &server, const char *method, const char *pattern,
         restd_handler_fn *handler, Greeter *greeter)
{
    restd_error error;

    if (restd_router_add(restd_server_router(server.get()), method, pattern,
                         handler, greeter, &error) < 0) {
        throw std::runtime_error(error.message);
    }
}

} // namespace

int main(int argc, char **argv)
{
    try {
        Greeter greeter("Hello"); // outlives the server, which is made later
        Server server = make_server();
        add(server, "GET", "/hello/{name}", call<&Greeter::hello>, &greeter);
        add(server, "GET", "/fail", call<&Greeter::fail>, &greeter);
        return example_serve(server.release(), argc, argv);
    } catch (const std::exception &fault) {
        fprintf(stderr, "%s\n", fault.what());
        return EXIT_FAILURE;
    }
}
