#!/usr/bin/env python3
"""Compares the bytes of a local folder's files with those of the objects below a prefix, asking the server itself.

usage: same-in-bucket.py SERVER BUCKET PREFIX FOLDER

Links are compared by their targets, placeholders of folders are passed over. Exits 1 at a difference.
"""
import base64
import hashlib
import json
import os
import sys
import urllib.parse
import urllib.request


def stored(server, bucket, prefix):
    found, token = {}, ""
    while True:
        query = urllib.parse.urlencode({"prefix": prefix, "pageToken": token})
        with urllib.request.urlopen(f"{server}/storage/v1/b/{bucket}/o?{query}") as answer:
            page = json.load(answer)
        for item in page.get("items", []):
            if not item["name"].endswith("/"):
                found[item["name"][len(prefix):]] = (int(item["size"]), item.get("md5Hash"))
        token = page.get("nextPageToken", "")
        if not token:
            return found


def local(folder):
    found = {}
    for parent, names, others in os.walk(folder):
        for name in names + others:
            path = os.path.join(parent, name)
            if os.path.islink(path):
                content = os.readlink(path).encode()
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    content = file.read()
            else:
                continue
            digest = base64.b64encode(hashlib.md5(content).digest()).decode()
            found[os.path.relpath(path, folder)] = (len(content), digest)
    return found


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    server, bucket, prefix, folder = sys.argv[1:]
    objects, files = stored(server, bucket, prefix), local(folder)
    # An object that was joined of others has no MD5; its size must do.
    different = [
        name for name in sorted(set(objects) | set(files))
        if name not in objects or name not in files or objects[name][0] != files[name][0]
        or objects[name][1] not in (None, files[name][1])
    ]
    for name in different[:20]:
        print(f"{name}: in the bucket {objects.get(name)}, locally {files.get(name)}")
    if different or not files:
        sys.exit(f"{len(different)} of {len(files)} files differ")


main()
