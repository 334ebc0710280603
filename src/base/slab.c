/* SPDX-License-Identifier: MIT */
/* Slabs of one page each. The page starts with its header, so an object finds
 * it by masking its own address. Pages with room stand in a list, those in
 * use apart from the empty ones, which are taken last, so that pages empty out
 * instead of sharing the load; full pages stand in no list.
 * Thread: the owner's loop. */
#include "base/slab.h"

#include <stdint.h>

#include "base/assert.h"
#include "base/mem.h"

#define PAGE_BYTES 4096u

struct rd_slab_page {
    struct rd_slab_page *next, **pprev; /* in partial or empty */
    void *free;                         /* first free object, linked */
    unsigned used;
};

#define HEADER_BYTES 64u
RD_STATIC_ASSERT(sizeof(struct rd_slab_page) <= HEADER_BYTES,
                 "objects start behind the header");

static struct rd_slab_page *page_of(void *object)
{
    return (struct rd_slab_page *)((uintptr_t)object &
                                   ~(uintptr_t)(PAGE_BYTES - 1));
}

static size_t page_charge(const struct rd_slab *slab)
{
    return PAGE_BYTES + slab->per_page * slab->extra_bytes;
}

static void list_push(struct rd_slab_page **list, struct rd_slab_page *page)
{
    page->next = *list;
    page->pprev = list;
    if (page->next) {
        page->next->pprev = &page->next;
    }
    *list = page;
}

static void list_remove(struct rd_slab_page *page)
{
    *page->pprev = page->next;
    if (page->next) {
        page->next->pprev = page->pprev;
    }
    page->next = NULL;
    page->pprev = NULL;
}

void rd_slab_init(struct rd_slab *slab, struct rd_ledger *ledger,
                  enum rd_mem_owner owner, size_t object_bytes,
                  size_t extra_bytes)
{
    slab->ledger = ledger;
    slab->owner = owner;
    slab->object_bytes = (object_bytes + 7u) & ~(size_t)7;
    slab->extra_bytes = extra_bytes;
    slab->per_page =
        (unsigned)((PAGE_BYTES - HEADER_BYTES) / slab->object_bytes);
    slab->partial = NULL;
    slab->empty = NULL;
    slab->empty_n = 0;
    slab->used_n = 0;
    RD_ASSERT(slab->per_page > 0);
}

void rd_slab_fini(struct rd_slab *slab)
{
    RD_ASSERT(slab->used_n == 0);
    rd_slab_trim(slab, 0);
}

static struct rd_slab_page *page_new(struct rd_slab *slab)
{
    if (rd_ledger_charge(slab->ledger, slab->owner, page_charge(slab)) != 0) {
        return NULL;
    }
    struct rd_slab_page *page = rd_page_alloc(PAGE_BYTES);
    if (!page) {
        rd_ledger_release(slab->ledger, slab->owner, page_charge(slab));
        return NULL;
    }
    char *object = (char *)page + HEADER_BYTES;
    for (unsigned i = 0; i < slab->per_page; i++) {
        *(void **)(void *)object = page->free;
        page->free = object;
        object += slab->object_bytes;
    }
    list_push(&slab->empty, page);
    slab->empty_n++;
    return page;
}

void *rd_slab_take(struct rd_slab *slab)
{
    struct rd_slab_page *page = slab->partial;

    if (!page) {
        page = slab->empty ? slab->empty : page_new(slab);
        if (!page) {
            return NULL;
        }
        list_remove(page);
        list_push(&slab->partial, page);
        slab->empty_n--;
    }
    void *object = page->free;
    page->free = *(void **)object;
    page->used++;
    if (!page->free) {
        list_remove(page);
    }
    slab->used_n++;
    return object;
}

void rd_slab_give(struct rd_slab *slab, void *object)
{
    struct rd_slab_page *page = page_of(object);

    RD_ASSERT(page->used > 0 && slab->used_n > 0);
    if (page->free) {
        list_remove(page);
    }
    *(void **)object = page->free;
    page->free = object;
    slab->used_n--;
    page->used--;
    slab->empty_n += page->used == 0;
    list_push(page->used == 0 ? &slab->empty : &slab->partial, page);
}

void rd_slab_trim(struct rd_slab *slab, unsigned keep)
{
    while (slab->empty_n > keep) {
        struct rd_slab_page *page = slab->empty;
        list_remove(page);
        rd_page_free(page, PAGE_BYTES);
        rd_ledger_release(slab->ledger, slab->owner, page_charge(slab));
        slab->empty_n--;
    }
}
