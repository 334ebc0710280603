# SPDX-License-Identifier: MIT
# bash completion for restdaemon; made by `make directives`.
# shellcheck shell=bash disable=SC2207
_restdaemon() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local directives='
        workers=
        memory_budget=
        user=
        group=
        daemon=
        pid_file=
        core_dumps=
        allow=
        deny=
        headers=
        gzip=
        request_id=
        log.target=
        log.file=
        log.level=
        log.format=
        access_log.target=
        access_log.file=
        access_log.format=
        access_log.sample=
        access_log.slow=
        access_log.min_status=
        limits.connections=
        limits.target_size=
        limits.header_size=
        limits.header_count=
        limits.body_size=
        limits.body_buffered=
        limits.body_rate=
        timeouts.header=
        timeouts.body=
        timeouts.body_grace=
        timeouts.keepalive=
        timeouts.write=
        timeouts.handler=
        timeouts.linger=
        timeouts.drain=
        timeouts.drain_idle=
        timeouts.shutdown_delay=
        timeouts.close_spread=
        tuning.backlog=
        tuning.defer_accept=
        tuning.stack=
        tuning.linger_size=
        tuning.linger_connections=
        tuning.output_high=
        tuning.output_low=
        tuning.offload_threads=
        tuning.offload_queue=
        tuning.log_ring=
        builtins.status=
        builtins.health=
        builtins.version=
        builtins.index=
        builtins.echo=
        status.detail=
        status.host=
        status.allow=
        cors.origins=
        cors.methods=
        cors.headers=
        cors.exposed=
        cors.max_age=
        cors.credentials=
        rate_limit.rate=
        rate_limit.period=
        rate_limit.burst=
        rate_limit.entries=
    '
    case $prev in
    -c) COMPREPLY=($(compgen -W none -f -- "$cur")) ;;
    -o)
        COMPREPLY=($(compgen -W "$directives" -- "$cur"))
        compopt -o nospace
        ;;
    -w) COMPREPLY=($(compgen -W 'auto 1 2 4 8' -- "$cur")) ;;
    -l | -p) COMPREPLY=() ;;
    *)
        COMPREPLY=($(compgen -W '-c -d -f -h -l -o -p -q -t -T -v -V -w \
            --healthcheck --help --version' -- "$cur"))
        ;;
    esac
}
complete -F _restdaemon restdaemon
