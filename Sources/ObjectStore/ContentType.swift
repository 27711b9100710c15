/// The content type that an object's name suggests. A table of our own, so that it is the same on every machine.
package enum ContentType {
    /// For names without a known extension (RFC 2046: arbitrary bytes).
    package static let unknown = "application/octet-stream"

    /// The type for an object called `name`, by the extension of its last segment; upper and lower case are alike.
    /// Text types come without a charset: nothing is known of the bytes. Of `.tar.gz` and kin the outer one counts, as
    /// the bytes are compressed. A name that only begins with a dot has no extension.
    package static func forName(_ name: [UInt8]) -> String {
        let segment = name[(name.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
        guard let dot = segment.lastIndex(of: UInt8(ascii: ".")), dot > segment.startIndex else { return unknown }
        let ending = segment[(dot + 1)...]
        guard (1...longestExtension).contains(ending.count) else { return unknown }
        let lower = ending.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return types[String(decoding: lower, as: UTF8.self)] ?? unknown
    }

    private static let types: [String: String] = {
        var types: [String: String] = [:]
        for (type, extensions) in table {
            for ending in extensions.split(separator: " ") { types[String(ending)] = type }
        }
        return types
    }()

    private static let longestExtension = 12

    /// Every type once, with its extensions. No extension occurs twice.
    static let table: [(type: String, extensions: String)] =
        text + programs + documents + archives + images + audio + video + fonts + models + data

    private static let text = [
        ("text/plain", "txt text log conf cfg ini env properties list def in diff patch nfo srt lst gitignore"),
        ("text/html", "html htm shtml"), ("text/css", "css"), ("text/csv", "csv"),
        ("text/tab-separated-values", "tsv tab"), ("text/markdown", "md markdown mdown mkd"),
        ("text/mdx", "mdx"), ("text/x-rst", "rst"), ("text/asciidoc", "adoc asciidoc"), ("text/x-org", "org"),
        ("text/calendar", "ics ifb"), ("text/vcard", "vcf vcard"), ("text/vtt", "vtt"),
        ("text/troff", "roff tr man me ms"),
        ("text/cache-manifest", "appcache manifest"), ("text/x-tex", "tex ltx sty cls"), ("text/x-bibtex", "bib"),
        ("text/richtext", "rtx"), ("text/sgml", "sgml sgm"), ("text/turtle", "ttl"), ("text/n3", "n3"),
        ("text/uri-list", "uri uris urls"), ("text/x-scss", "scss"), ("text/x-sass", "sass"), ("text/x-less", "less"),
        ("text/x-component", "htc"), ("text/x-gettext-translation", "po pot"),
    ]

    private static let programs = [
        ("text/javascript", "js mjs cjs"), ("text/jsx", "jsx"), ("text/x-typescript", "mts cts tsx"),
        ("text/x-python", "py pyw pyi"), ("application/x-python-code", "pyc pyo"), ("text/x-c", "c h"),
        ("text/x-c++", "cc cpp cxx c++ hh hpp hxx"), ("text/x-csharp", "cs csx"), ("text/x-java-source", "java"),
        ("text/x-kotlin", "kt kts"), ("text/x-swift", "swift"), ("text/x-objective-c", "m"),
        ("text/x-objective-c++", "mm"), ("text/x-go", "go"), ("text/x-rust", "rs"), ("text/x-ruby", "rb"),
        ("text/x-perl", "pl pm"), ("text/x-lua", "lua"), ("text/x-haskell", "hs lhs"), ("text/x-scala", "scala sc"),
        ("text/x-fortran", "f for f77 f90 f95"), ("text/x-pascal", "pas pp"), ("text/x-asm", "s asm"),
        ("text/x-dart", "dart"), ("text/x-erlang", "erl hrl"), ("text/x-elixir", "ex exs"),
        ("text/x-clojure", "clj cljs"),
        ("text/x-r", "r"), ("text/x-julia", "jl"), ("text/x-groovy", "groovy gradle"), ("text/x-vb", "vb vbs"),
        ("text/x-d", "di"), ("text/x-nim", "nim"), ("text/x-zig", "zig"), ("text/x-ocaml", "ml mli"),
        ("application/x-httpd-php", "php phtml"), ("application/x-sh", "sh bash zsh ksh fish"),
        ("application/x-csh", "csh"), ("application/x-powershell", "ps1 psm1"), ("application/x-bat", "bat cmd"),
        ("application/x-tcl", "tcl tk"), ("application/sql", "sql"), ("application/graphql", "graphql gql"),
        ("application/wasm", "wasm"), ("application/java-archive", "jar war ear"),
        ("application/java-vm", "class"), ("text/x-makefile", "mk mak"), ("text/x-cmake", "cmake"),
        ("text/x-vue", "vue"), ("text/x-svelte", "svelte"), ("text/x-protobuf", "proto"), ("text/x-emacs-lisp", "el"),
        ("text/x-common-lisp", "lisp lsp"), ("text/x-scheme", "scm ss"), ("text/x-terraform", "tf tfvars hcl"),
    ]

    private static let documents = [
        ("application/pdf", "pdf"), ("application/postscript", "ps eps ai"), ("application/rtf", "rtf"),
        ("application/epub+zip", "epub"), ("application/x-mobipocket-ebook", "mobi prc"),
        ("application/vnd.amazon.ebook", "azw azw3"), ("image/vnd.djvu", "djvu djv"),
        ("application/msword", "doc dot"), ("application/vnd.ms-excel", "xls xlt xla"),
        ("application/vnd.ms-powerpoint", "ppt pps"), ("application/vnd.visio", "vsd vst"),
        ("application/vnd.ms-project", "mpp"), ("application/vnd.ms-outlook", "msg"), ("application/onenote", "one"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.template", "dotx"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.template", "xltx"),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
        ("application/vnd.openxmlformats-officedocument.presentationml.slideshow", "ppsx"),
        ("application/vnd.openxmlformats-officedocument.presentationml.template", "potx"),
        ("application/vnd.ms-word.document.macroenabled.12", "docm"),
        ("application/vnd.ms-excel.sheet.macroenabled.12", "xlsm"),
        ("application/vnd.ms-excel.sheet.binary.macroenabled.12", "xlsb"),
        ("application/vnd.ms-powerpoint.presentation.macroenabled.12", "pptm"),
        ("application/vnd.oasis.opendocument.text", "odt"),
        ("application/vnd.oasis.opendocument.text-template", "ott"),
        ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
        ("application/vnd.oasis.opendocument.presentation", "odp"),
        ("application/vnd.oasis.opendocument.graphics", "odg"),
        ("application/vnd.oasis.opendocument.formula", "odf"),
        ("application/vnd.apple.pages", "pages"), ("application/vnd.apple.numbers", "numbers"),
        ("application/vnd.apple.keynote", "key"), ("application/x-abiword", "abw"), ("application/oxps", "oxps"),
        ("application/vnd.ms-xpsdocument", "xps"), ("application/x-dvi", "dvi"),
        ("message/rfc822", "eml mime mht mhtml"),
        ("application/mbox", "mbox"),
    ]

    private static let archives = [
        ("application/gzip", "gz tgz"), ("application/zip", "zip"), ("application/x-tar", "tar"),
        ("application/x-bzip2", "bz2 tbz tbz2"), ("application/x-xz", "xz txz"), ("application/x-lzma", "lzma"),
        ("application/zstd", "zst tzst"), ("application/x-lz4", "lz4"), ("application/x-lzip", "lz"),
        ("application/x-brotli", "br"), ("application/x-compress", "z"), ("application/x-7z-compressed", "7z"),
        ("application/vnd.rar", "rar"), ("application/x-cpio", "cpio"), ("application/x-archive", "a"),
        ("application/vnd.debian.binary-package", "deb udeb"), ("application/x-rpm", "rpm"),
        ("application/x-apple-diskimage", "dmg"), ("application/vnd.apple.installer+xml", "mpkg"),
        ("application/x-iso9660-image", "iso"), ("application/vnd.android.package-archive", "apk"),
        ("application/vnd.ms-cab-compressed", "cab"), ("application/x-msi", "msi"),
        ("application/vnd.microsoft.portable-executable", "exe dll sys"), ("application/x-sharedlib", "so"),
        ("application/x-object", "o"), ("application/x-redhat-package-manager", "srpm"),
        ("application/x-snap", "snap"), ("application/vnd.flatpak", "flatpak"), ("application/x-xpinstall", "xpi"),
        ("application/x-chrome-extension", "crx"), ("application/x-raw-disk-image", "img"),
        ("application/x-qemu-disk", "qcow2"), ("application/x-virtualbox-vmdk", "vmdk"),
        ("application/x-virtualbox-vdi", "vdi"), ("application/vnd.squashfs", "squashfs sfs"),
    ]

    private static let images = [
        ("image/png", "png"), ("image/jpeg", "jpg jpeg jpe jfif"), ("image/gif", "gif"), ("image/webp", "webp"),
        ("image/svg+xml", "svg svgz"), ("image/avif", "avif"), ("image/heic", "heic"), ("image/heif", "heif"),
        ("image/jxl", "jxl"), ("image/bmp", "bmp dib"), ("image/tiff", "tif tiff"), ("image/x-icon", "ico cur"),
        ("image/apng", "apng"), ("image/jp2", "jp2 jpg2"), ("image/jpx", "jpx jpf"),
        ("image/vnd.adobe.photoshop", "psd psb"),
        ("image/x-xcf", "xcf"), ("image/x-portable-pixmap", "ppm"), ("image/x-portable-graymap", "pgm"),
        ("image/x-portable-bitmap", "pbm"), ("image/x-portable-anymap", "pnm"), ("image/x-xbitmap", "xbm"),
        ("image/x-xpixmap", "xpm"), ("image/x-tga", "tga"), ("image/vnd.radiance", "hdr"), ("image/x-exr", "exr"),
        ("image/x-adobe-dng", "dng"), ("image/x-canon-cr2", "cr2"), ("image/x-canon-cr3", "cr3"),
        ("image/x-nikon-nef", "nef"), ("image/x-sony-arw", "arw"), ("image/x-olympus-orf", "orf"),
        ("image/x-panasonic-rw2", "rw2"), ("image/x-fuji-raf", "raf"), ("image/wmf", "wmf"), ("image/emf", "emf"),
        ("image/vnd.dxf", "dxf"), ("image/vnd.dwg", "dwg"), ("image/ktx", "ktx"), ("image/vnd.ms-dds", "dds"),
        ("application/dicom", "dcm"), ("application/x-krita", "kra"), ("application/x-sketch", "sketch"),
    ]

    private static let audio = [
        ("audio/mpeg", "mp3 mp2 mpga"), ("audio/mp4", "m4a m4b m4p"), ("audio/aac", "aac adts"),
        ("audio/ogg", "ogg oga spx"),
        ("audio/opus", "opus"), ("audio/flac", "flac"), ("audio/wav", "wav wave"), ("audio/aiff", "aif aiff aifc"),
        ("audio/webm", "weba"), ("audio/midi", "mid midi kar"), ("audio/basic", "au snd"), ("audio/amr", "amr"),
        ("audio/x-ms-wma", "wma"), ("audio/x-matroska", "mka"), ("audio/x-caf", "caf"), ("audio/x-ape", "ape"),
        ("audio/x-wavpack", "wv"), ("audio/ac3", "ac3"), ("audio/mod", "mod"), ("audio/x-s3m", "s3m"),
        ("audio/x-mpegurl", "m3u"), ("audio/x-scpls", "pls"), ("audio/x-pn-realaudio", "ra ram"),
    ]

    private static let video = [
        ("video/mp4", "mp4 m4v mp4v"), ("video/mpeg", "mpg mpeg mpe m1v m2v vob"), ("video/webm", "webm"),
        ("video/quicktime", "mov qt"), ("video/ogg", "ogv"), ("video/x-matroska", "mkv mk3d"),
        ("video/x-msvideo", "avi"),
        ("video/x-ms-wmv", "wmv"), ("video/x-ms-asf", "asf asx"), ("video/x-flv", "flv"), ("video/mp2t", "ts m2ts"),
        ("video/3gpp", "3gp"), ("video/3gpp2", "3g2"), ("video/x-m4s", "m4s"), ("video/h264", "h264"),
        ("video/h265", "h265"),
        ("video/mj2", "mj2 mjp2"), ("video/x-f4v", "f4v"), ("application/vnd.rn-realmedia", "rm rmvb"),
        ("application/vnd.apple.mpegurl", "m3u8"), ("application/dash+xml", "mpd"), ("application/mxf", "mxf"),
        ("application/x-subrip", "sub"), ("text/x-ssa", "ssa ass"), ("application/x-shockwave-flash", "swf"),
    ]

    private static let fonts = [
        ("font/woff", "woff"), ("font/woff2", "woff2"), ("font/ttf", "ttf"), ("font/otf", "otf"),
        ("font/collection", "ttc otc"), ("application/vnd.ms-fontobject", "eot"),
        ("application/x-font-type1", "pfa pfb"),
        ("application/x-font-bdf", "bdf"), ("application/x-font-pcf", "pcf"),
    ]

    private static let models = [
        ("model/gltf+json", "gltf"), ("model/gltf-binary", "glb"), ("model/obj", "obj"), ("model/mtl", "mtl"),
        ("model/stl", "stl"), ("model/3mf", "3mf"), ("model/vnd.usdz+zip", "usdz"), ("model/vnd.collada+xml", "dae"),
        ("model/iges", "igs iges"), ("model/step", "stp step"), ("model/vrml", "wrl vrml"),
        ("application/x-blender", "blend"),
    ]

    private static let data = [
        ("application/json", "json map har ipynb"), ("application/json5", "json5"),
        ("application/jsonl", "jsonl ndjson"), ("application/ld+json", "jsonld"), ("application/geo+json", "geojson"),
        ("application/manifest+json", "webmanifest"), ("application/xml", "xml xsd xsl resx"),
        ("application/xml-dtd", "dtd"), ("application/xslt+xml", "xslt"), ("application/xhtml+xml", "xhtml xht"),
        ("application/rss+xml", "rss"), ("application/atom+xml", "atom"), ("application/rdf+xml", "rdf owl"),
        ("application/yaml", "yaml yml"), ("application/toml", "toml"), ("application/cbor", "cbor"),
        ("application/x-plist", "plist"), ("application/gpx+xml", "gpx"),
        ("application/vnd.google-earth.kml+xml", "kml"),
        ("application/vnd.google-earth.kmz", "kmz"), ("application/vnd.sqlite3", "sqlite sqlite3 db db3"),
        ("application/vnd.apache.parquet", "parquet"), ("application/vnd.apache.avro", "avro"),
        ("application/x-orc", "orc"),
        ("application/vnd.apache.arrow.file", "arrow feather"), ("application/x-hdf5", "h5 hdf5 hdf"),
        ("application/x-netcdf", "nc cdf"), ("application/x-npy", "npy npz"), ("application/x-matlab-data", "mat"),
        ("application/x-tfrecord", "tfrecord tfrecords"), ("application/x-pickle", "pkl pickle"),
        ("application/vnd.tcpdump.pcap", "pcap cap dmp pcapng"), ("application/x-bittorrent", "torrent"),
        ("application/x-x509-ca-cert", "crt der cer"), ("application/x-pem-file", "pem"),
        ("application/pkcs8", "p8"), ("application/pkcs10", "p10 csr"), ("application/x-pkcs12", "p12 pfx"),
        ("application/pgp-signature", "sig asc"), ("application/pgp-encrypted", "pgp gpg"),
        ("application/x-msaccess", "mdb accdb"), ("application/x-shapefile", "shp"), ("application/x-dbf", "dbf"),
        ("application/vnd.lotus-1-2-3", "123"), ("application/mathml+xml", "mathml"), ("application/ttml+xml", "ttml"),
        ("application/x-desktop", "desktop"), ("application/vnd.mozilla.xul+xml", "xul"),
        ("application/x-research-info-systems", "ris"), ("application/x-chess-pgn", "pgn"),
    ]
}
