"""Lends a plain server an https address on this machine: gsutil speaks nothing else.

usage: tls-relay.py CERTIFICATE HOST:PORT      prints the port it listens on; ends when it is killed
"""

import asyncio
import ssl
import sys


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main(certificate, target):
    host, port = target.rsplit(":", 1)

    async def serve(reader, writer):
        from_server, to_server = await asyncio.open_connection(host, int(port))
        await asyncio.gather(pump(reader, to_server), pump(from_server, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print("listening on", listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


asyncio.run(main(*sys.argv[1:]))
