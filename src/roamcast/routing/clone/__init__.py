"""CLONE (Zhang, Zhao, Cao and Das): communities by interest and geographic routing; and grid-based CBR."""
